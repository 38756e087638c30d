import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import type { Rate } from "../../../../src/core/options.js";
import { Pace } from "../../../../src/lookup/pace/pace.js";
import { MemoryQuotaStore, type QuotaStore } from "../../../../src/store/quota/quota-store.js";
import { ownPace, paced } from "../../../../src/lookup/compose.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { complete, failed, item, scripted, unaborted } from "../attempts.js";

const { signal } = unaborted();

function paceOf(...rates: readonly Rate[]): { clock: ManualClock; pace: Pace } {
  const clock = new ManualClock();
  return { clock, pace: new Pace({ rates, clock, random: () => 0 }) };
}

/** Notes when each of `count` requests may leave. */
function leaves(run: Pace, clock: ManualClock, count: number): number[] {
  const times: number[] = [];
  for (let i = 0; i < count; i++) void run.take(signal).then(() => times.push(clock.monotonic()));
  return times;
}

test("without a rate nothing waits", async () => {
  const { clock, pace: run } = paceOf();
  const times = leaves(run, clock, 1000);
  await clock.advance(0);
  expect(times).toHaveLength(1000);
});

test("requests leave evenly", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  const times = leaves(run, clock, 5);
  await clock.advance(1000);
  expect(times).toEqual([0, 100, 200, 300, 400]);
});

test("requests leave in the order in which they came", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  const order: number[] = [];
  for (let i = 0; i < 5; i++) void run.take(signal).then(() => order.push(i));
  await clock.advance(1000);
  expect(order).toEqual([0, 1, 2, 3, 4]);
});

test("of several rates each is kept", async () => {
  const { clock, pace: run } = paceOf({ count: 100, perMs: 1000 }, { count: 120, perMs: 60_000 });
  const times = leaves(run, clock, 200);
  await clock.advance(9_999);
  expect(times).toHaveLength(20);
});

test("one timer serves all who wait", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  leaves(run, clock, 100);
  await clock.advance(0);
  expect(clock.pending).toBe(1);
});

test("who waits is let go when the signal aborts", async () => {
  const { pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  await run.take(controller.signal);
  const waiting = run.take(controller.signal);
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("whose signal has aborted is not let through", async () => {
  const { pace: run } = paceOf();
  await expect(run.take(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
});

test("who gave up spends nothing of the rate", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  await run.take(signal);
  run.take(controller.signal).catch(() => undefined);
  const times = leaves(run, clock, 1);
  controller.abort();
  await clock.advance(1000);
  expect(times).toEqual([1000]);
});

test("no timer is left when all have given up", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  await run.take(signal);
  run.take(controller.signal).catch(() => undefined);
  controller.abort();
  await clock.advance(0);
  expect(clock.pending).toBe(0);
});

test("waiting goes on after all had given up", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  await run.take(signal);
  run.take(controller.signal).catch(() => undefined);
  controller.abort();
  const times = leaves(run, clock, 2);
  await clock.advance(2000);
  expect(times).toEqual([1000, 2000]);
});

test("however many wait, their signal has one listener", async () => {
  const { pace: run } = paceOf({ count: 1, perMs: 1000 });
  const controller = new AbortController();
  for (let i = 0; i < 50; i++) run.take(controller.signal).catch(() => undefined);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  controller.abort();
});

test("a throttle answer holds everything back for as long as the service asks", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(7000);
  const times = leaves(run, clock, 3);
  await clock.advance(10_000);
  expect(times).toEqual([7000, 7000, 7000]);
});

test("a throttle answer holds back those who wait already", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  const times = leaves(run, clock, 3);
  await clock.advance(50);
  run.throttled(2000);
  await clock.advance(3000);
  expect(times).toEqual([0, 2050, 2150]);
});

test("a shorter wish does not end a longer pause", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(7000);
  run.throttled(1000);
  const times = leaves(run, clock, 1);
  await clock.advance(10_000);
  expect(times).toEqual([7000]);
});

test("without a wish the pauses double up to a minute", async () => {
  const { clock, pace: run } = paceOf();
  const pauses: number[] = [];
  for (let i = 0; i < 8; i++) {
    const start = clock.monotonic();
    run.throttled(null);
    await clock.run(run.take(signal));
    pauses.push(clock.monotonic() - start);
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test("pauses without a wish are spread at random", async () => {
  const clock = new ManualClock();
  const run = new Pace({ rates: [], clock, random: () => 0.5 });
  run.throttled(null);
  const times = leaves(run, clock, 1);
  await clock.advance(2000);
  expect(times).toEqual([1125]);
});

test("an answer of another kind ends the doubling", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(null);
  await clock.run(run.take(signal));
  run.succeeded();
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(1000);
});

test("throttle answers that are few among others make short pauses", async () => {
  const { clock, pace: run } = paceOf();
  for (let i = 0; i < 96; i++) run.succeeded();
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBeLessThan(50);
});

test("throttle answers to requests of before the pause do not prolong it", async () => {
  const { clock, pace: run } = paceOf();
  const tickets = await Promise.all([run.take(signal), run.take(signal), run.take(signal)]);
  for (const ticket of tickets) run.throttled(null, ticket);
  const times = leaves(run, clock, 1);
  await clock.advance(5000);
  expect(times).toEqual([1000]);
});

test("answers to requests of before the pause do not end the doubling", async () => {
  const { clock, pace: run } = paceOf();
  const [first, second] = await Promise.all([run.take(signal), run.take(signal)]);
  run.throttled(null, first);
  run.succeeded(second);
  await clock.run(run.take(signal));
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(2000);
});

test("the rate is kept after a pause: what was not used is not made up for", async () => {
  const { clock, pace: run } = paceOf({ count: 10, perMs: 1000 });
  run.throttled(5000);
  const times = leaves(run, clock, 3);
  await clock.advance(6000);
  expect(times).toEqual([5000, 5100, 5200]);
});

test("every attempt of every lookup that it wraps spends from the one pace", async () => {
  const { clock, pace: run } = paceOf({ count: 1, perMs: 1000 });
  const [query, quickCheck] = [scripted(complete()), scripted(complete())];
  const wrap = paced(run);
  void wrap(query)(item, { signal });
  void wrap(quickCheck)(item, { signal });
  await clock.advance(999);
  expect([query.asked.length, quickCheck.asked.length]).toEqual([1, 0]);
});

test("a throttled finding pauses all lookups", async () => {
  const { clock, pace: run } = paceOf();
  const wrap = paced(run);
  await wrap(scripted(failed("http_429", "throttled", 3000, 429)))(item, { signal });
  const other = scripted(complete());
  void wrap(other)(item, { signal });
  await clock.advance(2999);
  expect(other.asked).toHaveLength(0);
});

test("a partial finding is no throttling", async () => {
  const { pace: run } = paceOf();
  const wrap = paced(run);
  const partial503 = { ...complete(), again: { policy: "partial", afterMs: 9000 } } as const;
  await wrap(scripted(partial503))(item, { signal });
  const other = scripted(complete());
  await wrap(other)(item, { signal });
  expect(other.asked).toHaveLength(1);
});

test("a reset ends no doubling of pauses: the service did not answer", async () => {
  const { clock, pace: run } = paceOf();
  run.throttled(null);
  await clock.run(paced(run)(scripted(failed("connection_reset", "transient")))(item, { signal }));
  run.throttled(null);
  const start = clock.monotonic();
  await clock.run(run.take(signal));
  expect(clock.monotonic() - start).toBe(2000);
});

test("a quota of an endpoint's own is told to be used up when its last request has been made", async () => {
  const clock = new ManualClock();
  const told: number[] = [];
  const own = new Pace({
    rates: [{ count: 2, perMs: 86_400_000 }],
    isShare: true,
    clock,
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

test("no timer is left when the requests that wait end because a quota is used up", async () => {
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

test("the strictest of the rates that the service tells of is kept", async () => {
  const { clock, pace: run } = paceOf();
  run.advise("query", { count: 10, perMs: 1000 });
  run.advise("quick-check", { count: 2, perMs: 1000 });
  const times = leaves(run, clock, 4);
  await clock.advance(1000);
  expect(times).toEqual([0, 500, 1000]);
});

test("a rate that the service tells of anew takes the place of what it said before", async () => {
  const { clock, pace: run } = paceOf();
  run.advise("query", { count: 2, perMs: 1000 });
  run.advise("query", { count: 10, perMs: 1000 });
  const times = leaves(run, clock, 4);
  await clock.advance(1000);
  expect(times).toEqual([0, 100, 200, 300]);
});
