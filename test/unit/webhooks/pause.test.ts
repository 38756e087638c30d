import { describe, expect, it } from "vitest";
import { pauseMs } from "../../../src/webhooks/pause.js";

const now = Date.UTC(2024, 0, 1);

describe("pauseMs", () => {
  it.each([
    [1, 500],
    [2, 1000],
    [5, 8000],
    [7, 30_000],
    [99, 30_000],
  ])("after attempt %i is at most %i ms", (attempts, most) => {
    expect(pauseMs({ attempts, retryAfter: null, now, random: () => 1 })).toBe(most);
  });

  it("may be nothing at all", () => {
    expect(pauseMs({ attempts: 5, retryAfter: null, now, random: () => 0 })).toBe(0);
  });

  it.each([
    ["7", 7000],
    [" 7 ", 7000],
    ["Mon, 01 Jan 2024 00:00:09 GMT", 9000],
    ["Sun, 31 Dec 2023 23:00:00 GMT", 0],
    ["-5", 0],
    ["soon", 0],
    ["1.5", 0],
    ["", 0],
  ])("obeys Retry-After: %s", (retryAfter, ms) => {
    expect(pauseMs({ attempts: 1, retryAfter, now, random: () => 0 })).toBe(ms);
  });

  it("is the longer of backoff and Retry-After", () => {
    expect(pauseMs({ attempts: 5, retryAfter: "1", now, random: () => 1 })).toBe(8000);
  });
});
