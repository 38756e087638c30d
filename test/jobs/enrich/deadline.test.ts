import { expect, test } from "vitest";
import { runOptions } from "../../../src/jobs/enrich/options.js";
import { RunSignals } from "../../../src/jobs/enrich/run-signals.js";
import { ManualClock } from "../../helpers/manual-clock.js";

const { deadline } = runOptions.shape;

/** A run with a deadline that begins now, and the moments at which it is stopped. */
function begun(text: string, clock: ManualClock) {
  const settings = { run: { deadline: deadline.parse(text) } };
  const signals = new RunSignals({ signal: new AbortController().signal, settings, clock });
  const ends: number[] = [];
  signals.stop.addEventListener("abort", () => ends.push(clock.now()));
  return { signals, ends };
}

test("a duration counts from the start", async () => {
  const clock = new ManualClock({ startMs: 1_000 });
  const { ends } = begun("2h", clock);
  await clock.advance(7_300_000);
  expect(ends).toEqual([7_201_000]);
});

test("a run that ends first is not ended again", async () => {
  const clock = new ManualClock();
  const { signals, ends } = begun("1m", clock);
  await clock.advance(10_000);
  signals.close();
  await clock.advance(100_000);
  expect([ends, clock.pending]).toEqual([[], 0]);
});

const at = (day: number, hours: number, minutes: number): number =>
  new Date(2024, 0, day, hours, minutes).getTime();

test.each([
  [at(3, 4, 0), at(3, 5, 30)],
  [at(3, 5, 30), at(4, 5, 30)],
])("a time of day is the next one (%i)", async (now, end) => {
  const clock = new ManualClock({ startMs: now });
  const { ends } = begun("05:30", clock);
  await clock.advance(end - now + 60_000);
  expect(ends).toEqual([end]);
});

test.each(["25:00", "5:60", "soon", "0s", ""])("%j is not a deadline", (text) => {
  expect(deadline.safeParse(text).success).toBe(false);
});
