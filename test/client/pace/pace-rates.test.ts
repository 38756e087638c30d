import fc from "fast-check";
import { expect, test } from "vitest";
import type { Clock } from "../../../src/core/clock.js";
import type { Rate } from "../../../src/core/options.js";
import { QuotaCounts } from "../../../src/client/pace/quota.js";
import { Pace } from "../../../src/client/pace/pace.js";
import { ManualClock } from "../../helpers/manual-clock.js";

/** Timers have a resolution of one millisecond, and fire late. */
function simulatedClock(lateness: () => number) {
  const timers = new ManualClock({ startMs: 0, steps: 8 });
  const clock: Clock = {
    now: () => timers.now(),
    monotonic: () => timers.monotonic(),
    sleep: (ms) => timers.sleep(Math.max(1, Math.floor(ms)) + lateness()),
  };
  return { timers, clock };
}

const rates = fc.record({
  count: fc.integer({ min: 1, max: 2000 }),
  perMs: fc.constantFrom(1000, 60_000, 3_600_000),
});

/** Times within `span` at which requests want to leave: bursts with pauses between. */
function crowds(span: number, most: number): fc.Arbitrary<number[]> {
  const crowd = fc.record({ at: fc.nat(span), size: fc.integer({ min: 1, max: most }) });
  return fc
    .array(crowd, { minLength: 1, maxLength: 6 })
    .map((all) => all.flatMap(({ at, size }) => Array.from({ length: size }, () => at)));
}

/** Lateness of successive timers in milliseconds. */
function latenesses(max: number): fc.Arbitrary<readonly number[]> {
  return fc.array(fc.double({ min: 0, max, noNaN: true }), { minLength: 1, maxLength: 20 });
}

function inTurn(values: readonly number[]): () => number {
  let at = 0;
  return () => values[at++ % values.length] as number;
}

/** When the requests left that wanted to leave at `arrivals`. */
async function simulate(
  given: readonly Rate[],
  arrivals: readonly number[],
  lateness: () => number,
  until: number,
): Promise<number[]> {
  const { timers, clock } = simulatedClock(lateness);
  const quotas = new QuotaCounts();
  const pace = new Pace({ rates: given, clock, quotas });
  const { signal } = new AbortController();
  const left: number[] = [];
  for (const arrival of arrivals) {
    void timers.sleep(arrival).then(async () => {
      await pace.take(signal);
      left.push(clock.monotonic());
    });
  }
  await timers.advance(until);
  return left;
}

/** The most requests within any half-open window of this length. */
function mostWithin(left: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (let to = 0; to < left.length; to++) {
    // The tolerance covers sums of fractions of milliseconds.
    while ((left[to] as number) - (left[from] as number) >= windowMs - 1e-6) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

const perSecond = fc.record({ count: fc.integer({ min: 1, max: 2000 }), perMs: fc.constant(1000) });
const perMinute = fc.record({
  count: fc.integer({ min: 1, max: 1500 }),
  perMs: fc.constant(60_000),
});
const several = fc.array(rates, { minLength: 2, maxLength: 3 });

test.each<[string, fc.Arbitrary<Rate[]>, fc.Arbitrary<number[]>, until: number, runs: number]>([
  ["a rate of seconds", fc.tuple(perSecond), crowds(4000, 1000), 10_000, 15],
  ["a rate of minutes", fc.tuple(perMinute), crowds(120_000, 1000), 200_000, 10],
  ["every one of several rates", several, crowds(5000, 1000), 20_000, 12],
])("%s holds, within 5% of a second's, whenever requests arrive", async (...row) => {
  const [, given, arrivals, until, numRuns] = row;
  await fc.assert(
    fc.asyncProperty(given, arrivals, latenesses(60), async (held, wanted, late) => {
      const left = await simulate(held, wanted, inTurn(late), until);
      for (const { count, perMs } of held) {
        const most = perMs === 1000 ? Math.max(1.05 * count, 1) : count;
        expect(mostWithin(left, perMs)).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns },
  );
});

test("uses 98% of a rate when there is always something to send and timers are late", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 20, max: 2000 }), latenesses(15), async (count, late) => {
      const seconds = 4;
      const arrivals = Array.from({ length: count * seconds }, () => 0);
      const left = await simulate([{ count, perMs: 1000 }], arrivals, inTurn(late), seconds * 1000);
      expect(left.length).toBeGreaterThanOrEqual(0.98 * count * seconds - 1);
    }),
    { numRuns: 15 },
  );
});

test("does so too for rates of which 5% are few requests", async () => {
  for (let count = 20; count <= 80; count += 3) {
    for (const late of [[15], [0, 15], [15, 15, 0, 3]]) {
      const arrivals = Array.from({ length: 5 * count }, () => 0);
      const left = await simulate([{ count, perMs: 1000 }], arrivals, inTurn(late), 5000);
      expect(left.length, `${count}/s, late by ${late.join(", ")}`).toBeGreaterThanOrEqual(
        0.98 * 5 * count - 1,
      );
      expect(mostWithin(left, 1000)).toBeLessThanOrEqual(1.05 * count);
    }
  }
});

test("requests leave in order of arrival", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 500 }), latenesses(40), async (count, late) => {
      const { timers, clock } = simulatedClock(inTurn(late));
      const pace = new Pace({ rates: [{ count, perMs: 1000 }], clock });
      const { signal } = new AbortController();
      const order: number[] = [];
      for (let i = 0; i < 50; i++) void pace.take(signal).then(() => order.push(i));
      await timers.advance(60_000);
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
    }),
    { numRuns: 15 },
  );
});
