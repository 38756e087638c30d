import { expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  formatPercent,
  formatSeconds,
  formatSpeed,
} from "../../../src/core/wording/quantity.js";

test.each([
  [formatCount, 0, "0"],
  [formatCount, 1000, "1,000"],
  [formatBytes, 1000, "1.0 kB"],
  [formatBytes, 99_960, "100 kB"],
  [formatBytes, 999_600, "1.0 MB"],
  [formatSeconds, 9.94, "9.9 s"],
  [formatSeconds, 9.96, "10 s"],
  [formatSeconds, 59.6, "1 min 0 s"],
  [formatSeconds, 103, "1 min 43 s"],
  [formatSeconds, 7500, "2 h 5 min"],
  [formatSpeed, 9.94, "9.9"],
  [formatSpeed, 99.5, "100"],
  [formatSpeed, 12_345.6, "12,346"],
])("%o shows %d as %s", (format, quantity, text) => {
  expect(format(quantity)).toBe(text);
});

test.each([
  [0, 10, "0%"],
  [10, 10, "100%"],
  [1, 3, "33.3%"],
  [1, 100_000, "<0.1%"],
  [99_999, 100_000, ">99.9%"],
])("%d of %d", (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});
