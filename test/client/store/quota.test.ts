import fc from "fast-check";
import { expect, test } from "vitest";
import { Quota } from "../../../src/client/pace/quota.js";
import { QuotaCounts, type QuotaStore } from "../../../src/client/pace/quota.js";
import { tightest } from "../../../src/core/options.js";
import type { Clock } from "../../../src/core/clock.js";
import { ManualClock } from "../../helpers/manual-clock.js";

const day = 86_400_000;

function quotaOf<C extends Clock = ManualClock>(
  count: number,
  clock: C = new ManualClock() as Clock as C,
  store: QuotaStore = new QuotaCounts(),
) {
  return { clock, store, quota: new Quota({ count, perMs: day }, store, clock) };
}

/** Spends until the quota is used up. */
function spendAll(quota: Quota): number {
  let spent = 0;
  for (; quota.wait() === 0; spent++) quota.spend();
  return spent;
}

test("a quota can be spent at once and completely", () => {
  expect(spendAll(quotaOf(1234).quota)).toBe(1234);
});

test("no window of the quota's length contains more than its count", async () => {
  const { clock, quota } = quotaOf(50);
  const spent: number[] = [];
  for (let step = 0; step < 400; step++) {
    for (let i = 0; i < step % 7 && quota.wait() === 0; i++) {
      quota.spend();
      spent.push(clock.now());
    }
    await clock.advance(((step * 7919) % 3600) * 1000);
  }
  const perWindow = spent.map((from) => spent.filter((at) => at >= from && at < from + day).length);
  expect(Math.max(...perWindow)).toBeLessThanOrEqual(50);
  expect(spent.length).toBeGreaterThan(200);
});

test("a reservation that is never settled stays counted", () => {
  const { clock, store, quota } = quotaOf(1000);
  quota.wait();
  expect(spendAll(quotaOf(1000, clock, store).quota)).toBe(990);
});

test("each window has its own count", () => {
  const counts = new QuotaCounts();
  const reserve = (perMs: number): number =>
    counts.reserve({ count: 10, perMs }, 10, 0, 10_000).permits;
  expect([day, day / 24, day].map(reserve)).toEqual([10, 10, 0]);
});

test("repeated rates with the same window count once, at the lowest count", () => {
  const rates = [
    { count: 80, perMs: day },
    { count: 50, perMs: day },
    { count: 60, perMs: day },
  ];
  expect(tightest(rates)).toEqual([{ count: 50, perMs: day }]);
});

test("another process's reservation is waited for until it is settled or over", async () => {
  const store = new QuotaCounts();
  const { clock, quota } = quotaOf(100, new ManualClock(), store);
  const nowMs = clock.now();
  const { slot } = store.reserve({ count: 100, perMs: day }, 100, nowMs, nowMs + 10_000);
  expect(quota.wait()).toBe(10_000);
  store.settle(day, slot, 40, nowMs);
  await clock.advance(10_000);
  expect(spendAll(quota)).toBe(60);
});

test("a block stays to be settled while another process holds the lock", async () => {
  const memory = new QuotaCounts();
  let busy = false;
  const store: QuotaStore = { change: (work) => (busy ? null : memory.change(work)) };
  const { clock, quota } = quotaOf(1000, new ManualClock(), store);
  quota.wait();
  quota.spend();
  await clock.advance(20_000);
  busy = true;
  expect(quota.wait()).toBe(250);
  busy = false;
  quota.giveBack();
  expect(spendAll(quotaOf(1000, clock, store).quota)).toBe(999);
});

test("a long day of short runs is counted in slots, none of them early", () => {
  const rate = { count: 1_000_000, perMs: day };
  const counts = new QuotaCounts();
  const start = Date.UTC(2026, 0, 1);
  for (let step = 0; step < 1_800; step++) {
    const nowMs = start + step * 43_200;
    const { slot } = counts.reserve(rate, 3, nowMs, nowMs + 10_000);
    counts.settle(day, slot, 3, nowMs + 10);
  }
  const spentAt = (nowMs: number): number => counts.use(rate, nowMs).spent;
  expect(spentAt(start + 1_800 * 43_200)).toBe(5_400);
  // The first slot contains two runs and is freed with the later one.
  const lastOfSlot = start + 43_210;
  expect(spentAt(lastOfSlot + day - 1)).toBe(5_400);
  expect(spentAt(lastOfSlot + day)).toBe(5_394);
});

test("entries from a clock a year ahead count from now, not for a year", async () => {
  const clock = new ManualClock();
  const store = new QuotaCounts();
  const rate = { count: 10, perMs: day };
  const nextYear = clock.now() + 365 * day;
  store.reserve(rate, 10, nextYear, nextYear + 10_000);
  const { quota } = quotaOf(10, clock, store);
  expect(spendAll(quota)).toBe(0);
  await clock.advance(day + 10_000);
  expect(spendAll(quota)).toBe(10);
});

test("a clock that is seen to jump back, and returns, never lets runs spend a quota twice", () => {
  const count = 20;
  const wants = fc.integer({ min: 0, max: count });
  const run = fc.record({
    passes: fc.integer({ min: 0, max: 2 * day }),
    returns: fc.boolean(),
    wants,
    jumpsBack: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 400 * day })),
    wantsThen: wants,
    killed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(run, { minLength: 2, maxLength: 20 }), (runs) => {
      const store = new QuotaCounts();
      let [trueMs, behindMs] = [Date.UTC(2026, 0, 1), 0];
      const clock: Clock = {
        now: () => trueMs - behindMs,
        monotonic: () => trueMs,
        sleep: () => Promise.resolve(),
      };
      const spent: number[] = [];
      const spend = (quota: Quota, most: number): void => {
        for (let n = 0; quota.wait() === 0 && n < most; n++) {
          quota.spend();
          spent.push(trueMs);
        }
      };
      for (const { passes, returns, wants: most, jumpsBack, wantsThen, killed } of runs) {
        trueMs += passes;
        if (returns) behindMs = 0;
        const { quota } = quotaOf(count, clock, store);
        spend(quota, most);
        behindMs += jumpsBack;
        spend(quotaOf(count, clock, store).quota, 0);
        spend(quota, wantsThen);
        if (!killed) quota.giveBack();
      }
      const inWindow = spent.map((from) => spent.filter((at) => at >= from && at < from + day));
      expect(Math.max(0, ...inWindow.map(({ length }) => length))).toBeLessThanOrEqual(count);
    }),
  );
});
