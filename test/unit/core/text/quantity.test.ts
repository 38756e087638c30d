import { expect, test } from "vitest";
import {
  formatBytes,
  formatCount,
  formatPercent,
  formatSeconds,
  formatSpeed,
} from "../../../../src/core/text/quantity.js";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1,000"],
  [1234567, "1,234,567"],
])("count %d", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [99_960, "100 kB"],
  [999_600, "1.0 MB"],
  [1.5e9, "1.5 GB"],
])("%d bytes", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [0, "0.0 s"],
  [9.94, "9.9 s"],
  [9.96, "10 s"],
  [59.6, "1 min 0 s"],
  [103, "1 min 43 s"],
  [7500, "2 h 5 min"],
])("%d seconds", (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test.each([
  [0, "0.0"],
  [9.94, "9.9"],
  [99.5, "100"],
  [12_345.6, "12,346"],
])("%d a second", (speed, text) => {
  expect(formatSpeed(speed)).toBe(text);
});

test.each([
  [0, 10, "0%"],
  [10, 10, "100%"],
  [1, 3, "33.3%"],
  [1, 100_000, "<0.1%"],
  [99_999, 100_000, ">99.9%"],
  [0, 0, "0%"],
])("%d of %d", (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});
