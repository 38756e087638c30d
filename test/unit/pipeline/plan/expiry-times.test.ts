import { expect, test } from "vitest";
import { ExpiryTimes } from "../../../../src/pipeline/plan/expiry-times.js";

const hourMs = 3_600_000;

test("counts answers by the time until they expire", () => {
  const times = new ExpiryTimes();
  for (const hours of [0.2, 0.99, 1, 23.9, 24, 47, 24 * 29, 24 * 31, 24 * 900]) {
    times.add(hours * hourMs);
  }
  expect(times.stretches()).toEqual([
    { after_seconds: 0, until_seconds: 3600, answers: 2 },
    { after_seconds: 3600, until_seconds: 21_600, answers: 1 },
    { after_seconds: 21_600, until_seconds: 86_400, answers: 1 },
    { after_seconds: 86_400, until_seconds: 172_800, answers: 2 },
    { after_seconds: 604_800, until_seconds: 2_592_000, answers: 1 },
    { after_seconds: 2_592_000, until_seconds: null, answers: 2 },
  ]);
});

test("never counts fewer answers than expire within a time", () => {
  const times = new ExpiryTimes();
  for (let minute = 0; minute < 100; minute++) times.add(minute * 60_000 + 30_000);
  expect([0, 1, 30, 60, 61, 3600].map((seconds) => times.mostWithin(seconds))).toEqual([
    0, 1, 1, 1, 2, 60,
  ]);
});
