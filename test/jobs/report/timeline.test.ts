import { expect, test } from "vitest";
import { Days, timelineOf } from "../../../src/jobs/report/timeline.js";

function daysOf(...times: readonly string[]): Days {
  const days = new Days();
  for (const time of times) days.add(time);
  return days;
}

const none = daysOf();

test("is null without times", () => {
  expect(timelineOf({ firstSeen: none, lastSeen: none })).toBeNull();
});

test.each([
  ["day", ["2026-03-01T00:00:00Z", "2026-03-20T23:59:59Z"], 20],
  ["month", ["2025-11-30T00:00:00Z", "2026-03-01T00:00:00Z"], 5],
  ["year", ["2019-11-30T00:00:00Z", "2026-03-01T00:00:00Z"], 8],
] as const)("draws by the %s what spans that long", (unit, times, length) => {
  const timeline = timelineOf({ firstSeen: none, lastSeen: daysOf(...times) })!;
  expect(timeline.unit).toBe(unit);
  expect(timeline.buckets).toHaveLength(length);
  expect(timeline.buckets.reduce((sum, { lastSeen }) => sum + lastSeen, 0)).toBe(2);
  expect(timeline.ticks.length).toBeGreaterThan(1);
});

test("counts the oldest hundredth without drawing it", () => {
  const recent = Array.from(
    { length: 300 },
    (_, n) => `2026-03-${String(1 + (n % 28)).padStart(2, "0")}`,
  );
  const timeline = timelineOf({ firstSeen: none, lastSeen: daysOf("2001-01-01", ...recent) })!;
  expect(timeline.unit).toBe("day");
  expect(timeline.earlier).toBe(1);
});

test("ignores text that is no time", () => {
  const days = daysOf(
    "",
    "yesterday",
    "9999-01-01T00:00:00Z",
    "2026-99-99T00:00:00Z",
    "1999-12-31",
  );
  expect(days.total).toBe(0);
});
