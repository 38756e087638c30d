import { expect, test } from "vitest";
import { duration, isQuota, rate } from "../../src/core/options.js";

test.each([
  ["100/s", 100, 1_000, false],
  ["600/m", 600, 60_000, false],
  ["600/min", 600, 60_000, false],
  ["5000/h", 5_000, 3_600_000, true],
  [" 10000/d ", 10_000, 86_400_000, true],
])("reads the rate %s", (text, count, perMs, quota) => {
  const read = rate().parse(text);
  expect(read).toEqual({ count, perMs });
  expect(isQuota(read)).toBe(quota);
});

test.each(["0/s", "5", "5/week", "1.5/s", "-1/s", "5 /s", "1000000000/s"])(
  "refuses the rate %s",
  (text) => {
    expect(rate().safeParse(text).success).toBe(false);
  },
);

test.each([
  ["250ms", 250],
  ["30s", 30_000],
  ["5m", 300_000],
  ["5min", 300_000],
  ["1.5h", 5_400_000],
  ["7d", 604_800_000],
])("reads the duration %s", (text, ms) => {
  expect(duration().parse(text)).toBe(ms);
});
