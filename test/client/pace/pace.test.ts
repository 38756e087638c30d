import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Rate } from "../../../src/core/options.js";
import { Pace } from "../../../src/client/pace/pace.js";
import { QuotaCounts } from "../../../src/client/pace/quota.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { unaborted } from "../lookup/findings.js";

const { signal } = unaborted();

function paceOf(...rates: readonly Rate[]): { clock: ManualClock; pace: Pace } {
  const clock = new ManualClock();
  return { clock, pace: new Pace({ rates, clock, random: () => 0 }) };
}

/** Records when each of `count` requests may start. */
function leaves(run: Pace, clock: ManualClock, count: number): number[] {
  const times: number[] = [];
  for (let i = 0; i < count; i++) void run.take(signal).then(() => times.push(clock.monotonic()));
  return times;
}

const perSecond = (count: number): Rate => ({ count, perMs: 1000 });

test.each<[what: string, rates: Rate[], pauseMs: number | null, times: number[]]>([
  ["spaces requests evenly", [perSecond(10)], null, [0, 100, 200, 300, 400]],
  ["pauses after a throttle answer for as long as the service asks", [], 7000, [7000]],
  ["keeps the rate after a pause, without catching up", [perSecond(10)], 5000, [5000, 5100, 5200]],
])("%s", async (_, rates, pauseMs, times) => {
  const { clock, pace: run } = paceOf(...rates);
  if (pauseMs !== null) run.throttled(pauseMs);
  const left = leaves(run, clock, times.length);
  await clock.advance(10_000);
  expect(left).toEqual(times);
});

test("spends nothing for aborted callers, and leaves no timer for them", async () => {
  const { clock, pace: run } = paceOf(perSecond(1));
  const controller = new AbortController();
  await run.take(signal);
  run.take(controller.signal).catch(() => undefined);
  controller.abort();
  await clock.advance(0);
  expect(clock.pending).toBe(0);
  const times = leaves(run, clock, 2);
  await clock.advance(2000);
  expect(times).toEqual([1000, 2000]);
});

/** How many requests start within three seconds of the first throttle answers, with late timers. */
async function startedWith(lateMs: number, isSpaced: boolean): Promise<number> {
  const clock = new ManualClock({ lateness: () => lateMs });
  const run = new Pace({ rates: [], clock, random: () => 0 });
  if (isSpaced) run.leaveSpacing();
  for (let n = 0; n < 5; n++) run.throttled(null, 0);
  const times = leaves(run, clock, 200);
  await clock.advance(3000);
  return times.length;
}

test("late timers cost no requests where another thread spaces them", async () => {
  const inTime = await startedWith(0, true);
  expect(await startedWith(0, false)).toBe(inTime);
  expect(await startedWith(15, true)).toBeGreaterThanOrEqual(inTime - 1);
  expect(await startedWith(15, false)).toBeLessThan(0.8 * inTime);
});

test.each<[what: string, rates: Rate[], ms: number]>([
  ["leaves the spacing at a limit that was found to another thread", [perSecond(2000)], 98],
  ["keeps the spacing of a lower rate that was given", [perSecond(5)], 0],
  ["keeps it where a quota counts when requests leave", [{ count: 9, perMs: 86_400_000 }], 0],
])("%s", (_, rates, ms) => {
  const quotas = new QuotaCounts();
  const run = new Pace({ rates, clock: new ManualClock(), quotas });
  const apartMs = run.leaveSpacing();
  expect(apartMs()).toBe(0);
  for (let n = 0; n < 5; n++) run.throttled(null, 0);
  expect(apartMs()).toBe(ms);
});

test("needs one listener for all that wait, and none when nobody waits", async () => {
  const { clock, pace: run } = paceOf(perSecond(1));
  const { signal } = unaborted();
  for (let n = 0; n < 20; n++) void run.take(signal);
  await clock.advance(0);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await clock.advance(20_000);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("a throttle answer also holds back callers already waiting", async () => {
  const { clock, pace: run } = paceOf(perSecond(10));
  const times = leaves(run, clock, 3);
  await clock.advance(50);
  run.throttled(2000);
  await clock.advance(3000);
  expect(times).toEqual([0, 2050, 2150]);
});

/** How long a throttle answer without Retry-After pauses. */
async function pauseOf({ clock, pace: run }: ReturnType<typeof paceOf>): Promise<number> {
  const start = clock.monotonic();
  run.throttled(null);
  await clock.run(run.take(signal));
  return clock.monotonic() - start;
}

test("without Retry-After, pauses double up to a minute", async () => {
  const paced = paceOf();
  const pauses: number[] = [];
  for (let i = 0; i < 13; i++) pauses.push(await pauseOf(paced));
  expect(pauses.slice(0, 4)).toEqual([40, 80, 160, 320]);
  expect(pauses.slice(10)).toEqual([40_960, 60_000, 60_000]);
});

test("any other answer ends the doubling", async () => {
  const paced = paceOf();
  await pauseOf(paced);
  paced.pace.succeeded();
  expect(await pauseOf(paced)).toBe(40);
});

test("throttle answers to requests sent before the pause do not prolong it", async () => {
  const { clock, pace: run } = paceOf();
  const tickets = await Promise.all([run.take(signal), run.take(signal), run.take(signal)]);
  for (const ticket of tickets) run.throttled(null, ticket);
  const times = leaves(run, clock, 1);
  await clock.advance(5000);
  expect(times).toEqual([40]);
});

test("leaves no timer when a used-up quota ends the waiting requests", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const pace = new Pace({
    rates: [{ count: 1, perMs: 86_400_000 }],
    clock,
    quotas: new QuotaCounts(),
    onUsedUp: () => stop.abort(new Error("used up")),
  });
  const taken = [pace.take(stop.signal), pace.take(stop.signal)];
  const ends = Promise.allSettled(taken);
  await clock.run(ends);
  expect((await ends).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
  expect(clock.asked.filter((ms) => ms > 60_000)).toEqual([]);
});

test("keeps the strictest rate that the service declares", async () => {
  const { clock, pace: run } = paceOf();
  run.advise("query", perSecond(10));
  run.advise("quick-check", perSecond(2));
  const times = leaves(run, clock, 4);
  await clock.advance(1000);
  expect(times).toEqual([0, 500, 1000]);
});
