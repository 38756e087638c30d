import { describe, expect, test } from "vitest";
import type { Rate } from "../../../src/core/options.js";
import { rateWindow } from "../../../src/client/pace/limits.js";

/** How late requests may start, in milliseconds. */
const lateMs = 16;

const paceWindow = (rate: Rate) => rateWindow("w", rate);

/** Most requests in `ms` when a backlog is caught up with and slots are used late, by the rule of the slots. */
function mostIn(ms: number, { interval, backlog, fast }: ReturnType<typeof paceWindow>): number {
  const used = ms + lateMs;
  return Math.min(Math.floor(used / fast + 1e-9), Math.floor((used + backlog) / interval + 1e-9));
}

describe.each([20, 40, 100, 333, 1_500, 5_000, 100_000])("%i requests a second", (count) => {
  const window = paceWindow({ count, perMs: 1000 });

  test("has at most 105% in any second", () => {
    expect(mostIn(1000, window)).toBeLessThanOrEqual(1.05 * count);
  });

  test("has the whole rate on average", () => {
    expect(window.interval).toBeCloseTo(1000 / count, 9);
  });

  test("catches up with half a second, 2% faster at most", () => {
    expect(window.backlog).toBe(500);
    expect(window.interval / window.fast).toBeGreaterThan(1);
    expect(window.interval / window.fast).toBeLessThanOrEqual(1.02 + 1e-9);
  });
});

test.each([1, 7, 19])("%i requests a second are never exceeded", (count) => {
  const window = paceWindow({ count, perMs: 1000 });
  expect(mostIn(1000, window)).toBeLessThanOrEqual(count);
  expect(window.backlog).toBe(0);
  expect(1000 / window.interval).toBeGreaterThanOrEqual(0.97 * count);
});

test.each([
  [60, 60_000],
  [6_000, 60_000],
  [100_000, 60_000],
  [300, 10_000],
])("%i requests in %i ms are never exceeded", (count, perMs) => {
  const window = paceWindow({ count, perMs });
  expect(mostIn(perMs, window)).toBeLessThanOrEqual(count);
  expect(perMs / window.interval).toBeGreaterThanOrEqual(0.97 * count);
});
