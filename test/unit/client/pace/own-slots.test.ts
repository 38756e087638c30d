import { expect, test } from "vitest";
import type { Rate } from "../../../../src/core/options.js";
import { OwnSlots } from "../../../../src/client/pace/pace.js";

function slotsOf(rate: Rate): OwnSlots {
  return new OwnSlots({ rates: [rate], clock: { monotonic: () => 0 } });
}

/** Number of requests that may start within [from, to) when trying every millisecond. */
function granted(slots: OwnSlots, from: number, to: number): number {
  let count = 0;
  for (let now = from; now < to; now++) {
    while (slots.waitAt(now) <= 0) {
      slots.spend(now);
      count++;
    }
  }
  return count;
}

test("never exceeds a slow rate, not even after idling", () => {
  const slots = slotsOf({ count: 10, perMs: 1000 });
  slots.spend(0);
  expect(granted(slots, 50_000, 51_000)).toBe(10);
});

test("keeps a fast rate within 5% in every second", () => {
  expect(granted(slotsOf({ count: 5000, perMs: 1000 }), 0, 1000)).toBeLessThanOrEqual(5250);
});

test("does not delay the requests behind a late one", () => {
  const slots = slotsOf({ count: 100, perMs: 1000 });
  granted(slots, 0, 100);
  slots.spend(125);
  expect(slots.waitAt(125)).toBeLessThanOrEqual(0);
});

test("gives the first request a lead", () => {
  const slots = slotsOf({ count: 1000, perMs: 1000 });
  slots.spend(0);
  expect([granted(slots, 1, 40), granted(slots, 40, 60)]).toEqual([0, 19]);
});

test("makes up for a stall within seconds", () => {
  const slots = slotsOf({ count: 1000, perMs: 1000 });
  granted(slots, 0, 5000);
  expect(granted(slots, 5200, 15_000)).toBeGreaterThanOrEqual(9_995);
});

test("keeps every second within 105% of the rate after any stall", () => {
  const slots = slotsOf({ count: 1000, perMs: 1000 });
  granted(slots, 0, 5000);
  for (let from = 5900; from < 15_900; from += 1000) {
    expect(granted(slots, from, from + 1000)).toBeLessThanOrEqual(1050);
  }
});

test("makes up for half a second at most", () => {
  const slots = slotsOf({ count: 1000, perMs: 1000 });
  granted(slots, 0, 5000);
  expect(granted(slots, 5900, 35_900)).toBeLessThanOrEqual(30_500);
});

test("never exceeds the limit of a minute's window", () => {
  expect(granted(slotsOf({ count: 6000, perMs: 60_000 }), 0, 60_000)).toBeLessThanOrEqual(6000);
});
