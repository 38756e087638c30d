import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortableSleep } from "../../../src/core/abort.js";
import { ManualClock } from "../../helpers/manual-clock.js";

test("ends after its time", async () => {
  const clock = new ManualClock();
  await clock.run(new AbortableSleep(clock).for(700, new AbortController().signal));
  expect(clock.monotonic()).toBe(700);
});

test("ends all sleeps and timers on abort, with the signal's reason", async () => {
  const clock = new ManualClock();
  const sleep = new AbortableSleep(clock);
  const controller = new AbortController();
  const asleep = [1000, 2000].map((ms) => sleep.for(ms, controller.signal));
  controller.abort(new Error("enough"));
  const results = await Promise.allSettled(asleep);
  expect([results.map(({ status }) => status), clock.pending]).toEqual([
    ["rejected", "rejected"],
    0,
  ]);
});

test("doesn't start under an aborted signal", async () => {
  const clock = new ManualClock();
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(new AbortableSleep(clock).for(1000, aborted)).rejects.toThrow("enough");
});

test("uses one listener per signal, and none afterwards", async () => {
  const clock = new ManualClock();
  const sleep = new AbortableSleep(clock);
  const { signal } = new AbortController();
  const asleep = Array.from({ length: 50 }, () => sleep.for(10, signal));
  const during = getEventListeners(signal, "abort").length;
  await clock.run(Promise.all(asleep));
  expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});
