import { expect, test } from "vitest";
import { isoTime } from "../../../src/core/iso-time.js";

test("writes times as RFC 3339 has them, the same one again and another one then", () => {
  const times = [0, 0, 1767319445678, 0].map((ms) => isoTime(ms));
  expect(times).toEqual([
    "1970-01-01T00:00:00.000Z",
    "1970-01-01T00:00:00.000Z",
    "2026-01-02T02:04:05.678Z",
    "1970-01-01T00:00:00.000Z",
  ]);
});
