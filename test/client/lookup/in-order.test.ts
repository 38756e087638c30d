import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { inOrder } from "../../../src/client/lookup/in-order.js";
import { collected } from "../api/answers.js";

/** The results of work that is done at once. */
function atOnce<T>(inputs: Iterable<T> | AsyncIterable<T>) {
  return inOrder(inputs, (input) => Promise.resolve(input), 4);
}

it("passes null on, which ends no stream", async () => {
  const results = inOrder([1, null, 2], (input) => Promise.resolve([input]), 2);
  expect(await collected(results)).toEqual([[1], [null], [2]]);
});

it("throws the error of an input at its position", async () => {
  function* inputs() {
    yield 1;
    throw new Error("no second");
  }
  const results = atOnce(inputs())[Symbol.asyncIterator]();
  expect((await results.next()).value).toBe(1);
  await expect(results.next()).rejects.toThrow("no second");
});

it("yields in input order, whatever finishes first", async () => {
  const ends = new Map<number, (result: string) => void>();
  const work = (input: number) => new Promise<string>((end) => void ends.set(input, end));
  const results = collected(inOrder([1, 2, 3], work, 3));
  await setImmediate();
  for (const input of [3, 1, 2]) ends.get(input)?.(`r${input}`);
  expect(await results).toEqual(["r1", "r2", "r3"]);
});

it("stops reading at its bound while nobody takes results", async () => {
  let read = 0;
  function* inputs() {
    for (;;) yield ++read;
  }
  const results = atOnce(inputs())[Symbol.asyncIterator]();
  expect((await results.next()).value).toBe(1);
  await setImmediate();
  expect(read).toBeLessThanOrEqual(8);
  await results.return!();
});

it("yields a result before the next input arrives", async () => {
  let send: (input: number) => void = () => undefined;
  const second = new Promise<number>((resolve) => (send = resolve));
  async function* inputs() {
    yield 1;
    yield await second;
  }
  const results = atOnce(inputs())[Symbol.asyncIterator]();
  expect((await results.next()).value).toBe(1);
  send(2);
  expect((await results.next()).value).toBe(2);
  expect((await results.next()).done).toBe(true);
});

it("closes the input when the consumer leaves its loop", async () => {
  let closed = false;
  function* inputs() {
    try {
      for (let input = 1; ; input++) yield input;
    } finally {
      closed = true;
    }
  }
  for await (const result of atOnce(inputs())) {
    if (result === 3) break;
  }
  await setImmediate();
  expect(closed).toBe(true);
});
