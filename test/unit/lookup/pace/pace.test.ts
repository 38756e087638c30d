import { expect, test } from "vitest";
import type { Rate } from "../../../../src/core/options.js";
import { Pace } from "../../../../src/lookup/pace/pace.js";
import { MemoryQuotaStore } from "../../../../src/store/quota/quota-entries.js";
import type { QuotaStore } from "../../../../src/store/quota/quota.js";
import { ownPace, paced } from "../../../../src/lookup/compose.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { complete, failed, item, scripted, unaborted } from "../attempts.js";

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

test("tells what throttle answers have shown", () => {
  const { pace } = paceOf();
  expect(pace.throttling).toBe("none");
  pace.throttled(null);
  expect(pace.throttling).toBe("unclear");
});

test("never waits without a rate", async () => {
  const { clock, pace: run } = paceOf();
  const times = leaves(run, clock, 1000);
  await clock.advance(0);
  expect(times).toHaveLength(1000);
});

test("spaces requests evenly", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  const times = leaves(run, clock, 5);
  await clock.advance(1000);
  expect(times).toEqual([0, 100, 200, 300, 400]);
});

test("keeps every one of several rates", async () => {
  const { clock, pace: run } = paceOf({ count: 100, perMs: 1000 }, { count: 120, perMs: 60_000 });
  const times = leaves(run, clock, 200);
  await clock.advance(9_999);
  expect(times).toHaveLength(20);
});

test("uses one timer for all waiting callers", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  leaves(run, clock, 100);
  await clock.advance(0);
  expect(clock.pending).toBe(1);
});

test("releases waiting callers when their signal aborts", async () => {
  const { pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  await run.take(controller.signal);
  const waiting = run.take(controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("spends nothing for aborted callers, and leaves no timer for them", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
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

test("pauses after a throttle answer for as long as the service asks", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(7000);
  const times = leaves(run, clock, 1);
  await clock.advance(10_000);
  expect(times).toEqual([7000]);
});

test("a throttle answer also holds back callers already waiting", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  const times = leaves(run, clock, 3);
  await clock.advance(50);
  run.throttled(2000);
  await clock.advance(3000);
  expect(times).toEqual([0, 2050, 2150]);
});

test("a shorter Retry-After does not end a longer pause", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(7000);
  run.throttled(1000);
  const times = leaves(run, clock, 1);
  await clock.advance(10_000);
  expect(times).toEqual([7000]);
});

test("without Retry-After, pauses double up to a minute", async () => {
  const { clock, pace: run } = paceOf();
  const pauses: number[] = [];
  for (let i = 0; i < 13; i++) {
    const start = clock.monotonic();
    run.throttled(null);
    await clock.run(run.take(signal));
    pauses.push(clock.monotonic() - start);
  }
  expect(pauses.slice(0, 4)).toEqual([40, 80, 160, 320]);
  expect(pauses.slice(10)).toEqual([40_960, 60_000, 60_000]);
});

test("without Retry-After, pauses have random length", async () => {
  const clock = new ManualClock();
  const run = new Pace({ rates: [], clock, random: () => 0.5 });
  run.throttled(null);
  const times = leaves(run, clock, 1);
  await clock.advance(2000);
  expect(times).toEqual([45]);
});

test("any other answer ends the doubling", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(null);
  await clock.run(run.take(signal));
  run.succeeded();
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(40);
});

test("throttle answers to requests sent before the pause do not prolong it", async () => {
  const { clock, pace: run } = paceOf();
  const tickets = await Promise.all([run.take(signal), run.take(signal), run.take(signal)]);
  for (const ticket of tickets) run.throttled(null, ticket);
  const times = leaves(run, clock, 1);
  await clock.advance(5000);
  expect(times).toEqual([40]);
});

test("answers to requests sent before the pause do not end the doubling", async () => {
  const { clock, pace: run } = paceOf();
  const [first, second] = await Promise.all([run.take(signal), run.take(signal)]);
  run.throttled(null, first);
  run.succeeded(second);
  await clock.run(run.take(signal));
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(80);
});

test("keeps the rate after a pause, without catching up", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  run.throttled(5000);
  const times = leaves(run, clock, 3);
  await clock.advance(6000);
  expect(times).toEqual([5000, 5100, 5200]);
});

test("every attempt of every wrapped lookup spends from the same pace", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  const [query, quickCheck] = [scripted(complete()), scripted(complete())];
  const wrap = paced(run);
  void wrap(query)(item, { signal });
  void wrap(quickCheck)(item, { signal });
  await clock.advance(999);
  expect([query.asked.length, quickCheck.asked.length]).toEqual([1, 0]);
});

test("a partial finding is not throttling", async () => {
  const { pace: run } = paceOf();
  const wrap = paced(run);
  const partial503 = { ...complete(), again: { policy: "partial", afterMs: 9000 } } as const;
  await wrap(scripted(partial503))(item, { signal });
  const other = scripted(complete());
  await wrap(other)(item, { signal });
  expect(other.asked).toHaveLength(1);
});

test("a reset does not end the doubling, since the service did not answer", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(null);
  await clock.run(paced(run)(scripted(failed("connection_reset", "transient")))(item, { signal }));
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(80);
});

test("reports an endpoint's quota as used up after its last request", async () => {
  const clock = new ManualClock();
  const told: number[] = [];
  const own = new Pace({
    rates: [{ count: 2, perMs: 86_400_000 }],
    isShare: true,
    clock,
    quotas: { store: new MemoryQuotaStore(), name: "query" },
    onUsedUp: () => told.push(next.asked.length),
  });
  const run = new Pace({ rates: [{ count: 1, perMs: 1000 }], clock });
  const next = scripted(complete());
  const lookup = ownPace(own)(paced(run)(next));
  for (let i = 0; i < 3; i++) void lookup(item, { signal });
  await clock.advance(500);
  expect([next.asked.length, told]).toEqual([1, []]);
  await clock.advance(600);
  expect([next.asked.length, told[0]]).toEqual([2, 2]);
});

test("leaves no timer when a used-up quota ends the waiting requests", async () => {
  const clock = new ManualClock();
  const memory = new MemoryQuotaStore();
  const store: QuotaStore = {
    reserve: async (name, options) => memory.reserve(name, options),
    settle: (name, id, used, nowMs) => memory.settle(name, id, used, nowMs),
  };
  const stop = new AbortController();
  const pace = new Pace({
    rates: [{ count: 1, perMs: 86_400_000 }],
    clock,
    quotas: { store, name: "all" },
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
  run.advise("query", { count: 10, perMs: 1000 });
  run.advise("quick-check", { count: 2, perMs: 1000 });
  const times = leaves(run, clock, 4);
  await clock.advance(1000);
  expect(times).toEqual([0, 500, 1000]);
});

test("replaces a declared rate when the service declares it anew", async () => {
  const { clock, pace: run } = paceOf();
  run.advise("query", { count: 2, perMs: 1000 });
  run.advise("query", { count: 10, perMs: 1000 });
  const times = leaves(run, clock, 4);
  await clock.advance(1000);
  expect(times).toEqual([0, 100, 200, 300]);
});
