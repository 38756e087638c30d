import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { abortable, abortableSleep, AbortGroups, raceAbort } from "../../src/core/abort.js";
import { collected } from "../client/api/answers.js";
import { ManualClock } from "../helpers/manual-clock.js";

test("raceAbort resolves like the promise and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
  await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("raceAbort rejects with the signal's reason and closes a value that comes late", async () => {
  const controller = new AbortController();
  const closed: string[] = [];
  let resolve: (value: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => (resolve = settle));
  const raced = raceAbort(promise, controller.signal, (late) => closed.push(late));
  controller.abort(new Error("enough"));
  await expect(raced).rejects.toThrow("enough");
  resolve("late");
  await promise;
  expect(closed).toEqual(["late"]);
});

/** Two values, then silence. */
async function* silent(): AsyncGenerator<number> {
  yield* [1, 2];
  await new Promise(() => undefined);
}

async function* three(ended: unknown[]): AsyncGenerator<number> {
  try {
    yield* [1, 2, 3];
  } finally {
    ended.push("closed");
  }
}

test("abortable passes values on, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await collected(abortable(three([]), signal))).toEqual([1, 2, 3]);
  expect(await collected(abortable(three([])))).toEqual([1, 2, 3]);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("abortable closes the values if it is left early", async () => {
  const seen: unknown[] = [];
  for await (const value of abortable(three(seen), new AbortController().signal)) {
    seen.push(value);
    if (value === 2) break;
  }
  expect(seen).toEqual([1, 2, "closed"]);
});

test("abortable ends with the signal's reason while the next value never comes", async () => {
  const controller = new AbortController();
  const found: number[] = [];
  const reading = (async () => {
    for await (const value of abortable(silent(), controller.signal)) {
      found.push(value);
      if (value === 2) queueMicrotask(() => controller.abort(new Error("enough")));
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(found).toEqual([1, 2]);
});

test("a member that left a group is not aborted", () => {
  const controller = new AbortController();
  const groups = new AbortGroups();
  const aborted: string[] = [];
  const member = (name: string) => ({
    abort: (reason: unknown) => aborted.push(`${name} ${String(reason)}`),
  });
  const leave = groups.join(controller.signal, member("gone"));
  groups.join(controller.signal, member("here"));
  leave();
  controller.abort("stop");
  expect(aborted).toEqual(["here stop"]);
});

test("abortableSleep ends all sleeps and timers on abort, with the signal's reason", async () => {
  const clock = new ManualClock();
  const sleep = abortableSleep(clock);
  const controller = new AbortController();
  const asleep = [1000, 2000].map((ms) => sleep(ms, controller.signal));
  controller.abort(new Error("enough"));
  await Promise.all(asleep.map((each) => expect(each).rejects.toThrow("enough")));
  expect(clock.pending).toBe(0);
});

test("abortableSleep ends after its time, with one listener per signal, and none then", async () => {
  const clock = new ManualClock();
  const sleep = abortableSleep(clock);
  const { signal } = new AbortController();
  const asleep = Array.from({ length: 50 }, () => sleep(700, signal));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.run(Promise.all(asleep));
  expect(clock.monotonic()).toBe(700);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
