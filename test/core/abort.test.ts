import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { abortable, abortableSleep, AbortGroups, raceAbort } from "../../src/core/abort.js";
import { ManualClock } from "../helpers/manual-clock.js";

describe("raceAbort", () => {
  test("resolves like the promise and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve(1), signal)).toBe(1);
    await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("rejects with the signal's reason and closes a value that comes late", async () => {
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
});

describe("abortable", () => {
  /** Two values, then silence. */
  async function* silent(): AsyncGenerator<number> {
    yield* [1, 2];
    await new Promise(() => undefined);
  }

  async function* three(ended: string[]): AsyncGenerator<number> {
    try {
      yield* [1, 2, 3];
    } finally {
      ended.push("closed");
    }
  }

  async function valuesOf(values: AsyncIterable<number>, most = Infinity): Promise<number[]> {
    const found: number[] = [];
    for await (const value of values) {
      found.push(value);
      if (found.length === most) break;
    }
    return found;
  }

  test("passes values on, and leaves no listener", async () => {
    const { signal } = new AbortController();
    expect(await valuesOf(abortable(three([]), signal))).toEqual([1, 2, 3]);
    expect(await valuesOf(abortable(three([])))).toEqual([1, 2, 3]);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("closes the values if it is left early", async () => {
    const ended: string[] = [];
    expect(await valuesOf(abortable(three(ended), new AbortController().signal), 2)).toEqual([
      1, 2,
    ]);
    expect(ended).toEqual(["closed"]);
  });

  test("ends with the signal's reason while the next value never comes", async () => {
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

describe("abortableSleep", () => {
  test("ends after its time", async () => {
    const clock = new ManualClock();
    await clock.run(abortableSleep(clock)(700, new AbortController().signal));
    expect(clock.monotonic()).toBe(700);
  });

  test("ends all sleeps and timers on abort, with the signal's reason", async () => {
    const clock = new ManualClock();
    const sleep = abortableSleep(clock);
    const controller = new AbortController();
    const asleep = [1000, 2000].map((ms) => sleep(ms, controller.signal));
    controller.abort(new Error("enough"));
    const results = await Promise.allSettled(asleep);
    expect([results.map(({ status }) => status), clock.pending]).toEqual([
      ["rejected", "rejected"],
      0,
    ]);
  });

  test("uses one listener per signal, and none afterwards", async () => {
    const clock = new ManualClock();
    const sleep = abortableSleep(clock);
    const { signal } = new AbortController();
    const asleep = Array.from({ length: 50 }, () => sleep(10, signal));
    const during = getEventListeners(signal, "abort").length;
    await clock.run(Promise.all(asleep));
    expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
  });
});
