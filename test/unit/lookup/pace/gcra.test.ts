import { expect, test } from "vitest";
import { Gcra } from "../../../../src/lookup/pace/gcra.js";

/** Number of requests that may start within [from, to) when trying every millisecond. */
function granted(gcra: Gcra, from: number, to: number): number {
  let count = 0;
  for (let now = from; now < to; now++) {
    while (gcra.waitAt(now) <= 0) {
      gcra.spend(now);
      count++;
    }
  }
  return count;
}

test("never exceeds a slow rate, not even after idling", () => {
  const gcra = new Gcra({ count: 10, perMs: 1000 });
  gcra.spend(0);
  expect(granted(gcra, 50_000, 51_000)).toBe(10);
});

test("keeps a fast rate within 5% in every second", () => {
  expect(granted(new Gcra({ count: 5000, perMs: 1000 }), 0, 1000)).toBeLessThanOrEqual(5250);
});

test("does not delay the requests behind a late one", () => {
  const gcra = new Gcra({ count: 100, perMs: 1000 });
  granted(gcra, 0, 100);
  gcra.spend(125);
  expect(gcra.waitAt(125)).toBeLessThanOrEqual(0);
});

test("gives the first request a lead", () => {
  const gcra = new Gcra({ count: 1000, perMs: 1000 });
  gcra.spend(0);
  expect([granted(gcra, 1, 40), granted(gcra, 40, 60)]).toEqual([0, 19]);
});

test("makes up for a stall within seconds", () => {
  const gcra = new Gcra({ count: 1000, perMs: 1000 });
  granted(gcra, 0, 5000);
  expect(granted(gcra, 5200, 15_000)).toBeGreaterThanOrEqual(9_995);
});

test("keeps every second within 105% of the rate after any stall", () => {
  const gcra = new Gcra({ count: 1000, perMs: 1000 });
  granted(gcra, 0, 5000);
  for (let from = 5900; from < 15_900; from += 1000) {
    expect(granted(gcra, from, from + 1000)).toBeLessThanOrEqual(1050);
  }
});

test("makes up for half a second at most", () => {
  const gcra = new Gcra({ count: 1000, perMs: 1000 });
  granted(gcra, 0, 5000);
  expect(granted(gcra, 5900, 35_900)).toBeLessThanOrEqual(30_500);
});

test("never exceeds the limit of a minute's window", () => {
  expect(granted(new Gcra({ count: 6000, perMs: 60_000 }), 0, 60_000)).toBeLessThanOrEqual(6000);
});
