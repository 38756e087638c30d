import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inParallel } from "../../../src/tags/in-parallel.js";

test("no more is under way, and no more taken from the source, than the limit", async () => {
  let taken = 0;
  let done = 0;
  let running = 0;
  let most = 0;
  let ahead = 0;
  function* source(): Iterable<number> {
    while (taken < 20) yield taken++;
  }
  await inParallel(source(), 3, undefined, async () => {
    most = Math.max(most, ++running);
    ahead = Math.max(ahead, taken - done);
    await turn();
    running--;
    done++;
  });
  expect([most, ahead, taken]).toEqual([3, 3, 20]);
});

test("a source that must not be asked twice at once is not", async () => {
  let asked = false;
  const source: AsyncIterable<number> = {
    [Symbol.asyncIterator]() {
      let at = 0;
      return {
        async next() {
          if (asked) throw new Error("asked twice");
          asked = true;
          await turn();
          asked = false;
          return at++ < 5 ? { done: false, value: at } : { done: true, value: undefined };
        },
      };
    },
  };
  const seen: number[] = [];
  await inParallel(source, 4, undefined, async (item) => {
    seen.push(item);
    await turn();
  });
  expect(seen).toEqual([1, 2, 3, 4, 5]);
});

test("what goes wrong with one ends the others and is thrown when they have ended", async () => {
  let ended = 0;
  const all = inParallel([1, 2, 3], 2, undefined, async (item, signal) => {
    if (item === 2) throw new Error("no");
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
    await turn();
    ended++;
    signal.throwIfAborted();
  });
  await expect(all).rejects.toThrow("no");
  expect(ended).toBe(1);
});

test("a fault of the source is thrown", async () => {
  async function* source(): AsyncIterable<string> {
    yield "one";
    throw new Error("no more");
  }
  await expect(inParallel(source(), 2, undefined, async () => {})).rejects.toThrow("no more");
});

test("an abort is thrown as its reason", async () => {
  const stop = new AbortController();
  const all = inParallel([1, 2], 1, stop.signal, async () => {
    stop.abort(new Error("told to"));
  });
  await expect(all).rejects.toThrow("told to");
});
