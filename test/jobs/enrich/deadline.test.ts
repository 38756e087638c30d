import { expect, test } from "vitest";
import { runOptions } from "../../../src/jobs/enrich/options.js";
import { endAt, nextTimeOfDay } from "../../../src/jobs/enrich/run-signals.js";
import { ManualClock } from "../../helpers/manual-clock.js";

const { deadline } = runOptions.shape;

test("a duration counts from the start", async () => {
  const clock = new ManualClock();
  const ends: number[] = [];
  const over = new AbortController().signal;
  void endAt(deadline.parse("2h")!, clock, () => ends.push(clock.monotonic()), over);
  await clock.advance(7_300_000);
  expect(ends).toEqual([7_200_000]);
});

test("a run that ends first is not ended again", async () => {
  const clock = new ManualClock();
  const ends: unknown[] = [];
  const over = new AbortController();
  const timer = endAt(deadline.parse("1m")!, clock, (error) => ends.push(error), over.signal);
  await clock.advance(10_000);
  over.abort();
  await timer;
  expect([ends, clock.pending]).toEqual([[], 0]);
});

test("a time of day is the next one", () => {
  const at = (day: number, hours: number, minutes: number): number =>
    new Date(2024, 0, day, hours, minutes).getTime();
  const time = { hours: 5, minutes: 30 };
  expect(nextTimeOfDay(time, at(3, 4, 0))).toBe(at(3, 5, 30));
  expect(nextTimeOfDay(time, at(3, 5, 30))).toBe(at(4, 5, 30));
});

test.each(["25:00", "5:60", "soon", "0s", ""])("%j is not a deadline", (text) => {
  expect(deadline.safeParse(text).success).toBe(false);
});
