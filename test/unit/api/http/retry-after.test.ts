import { expect, test } from "vitest";
import { retryAfterMs } from "../../../../src/api/http/rate-limit-headers.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

const now = Date.UTC(1994, 10, 6, 8, 49, 7);

function wait(headers: Record<string, string | string[]>, startMs = now): number | null {
  return retryAfterMs(headers, new ManualClock({ startMs }));
}

test.each([
  ["120", 120_000],
  [" 5 ", 5000],
  ["1.5", 1500],
  ["0", 0],
  ["-30", 0],
  ["999999", 3_600_000],
  ["1000000000", 3_600_000],
  [String(now / 1000), 3_600_000],
  ["9".repeat(400), 3_600_000],
])("reads %j as seconds, at most an hour", (text, ms) => {
  expect(wait({ "retry-after": text })).toBe(ms);
});

test.each([
  "Sun, 06 Nov 1994 08:49:37 GMT",
  "Sunday, 06-Nov-94 08:49:37 GMT",
  "Sun Nov  6 08:49:37 1994",
])("reads %j as a date", (text) => {
  expect(wait({ "retry-after": text })).toBe(30_000);
});

test("a date in the past means now", () => {
  expect(wait({ "retry-after": "Sun, 06 Nov 1994 08:00:00 GMT" })).toBe(0);
});

test("a date far ahead means an hour", () => {
  expect(wait({ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" })).toBe(3_600_000);
});

test.each(["", "soon", "10 minutes", "Sun, 99 Nov 1994", "{}"])("ignores %j", (text) => {
  expect(wait({ "retry-after": text })).toBeNull();
});

test("uses the first of repeated headers", () => {
  expect(wait({ "retry-after": ["1", "2"] })).toBe(1000);
});

const in2024 = Date.UTC(2024, 0, 1);

test.each([
  ["ratelimit-reset", "30"],
  ["ratelimit", '"default";r=0;t=30'],
  ["ratelimit", "limit=100, remaining=0, reset=30"],
  ["x-ratelimit-reset", "30"],
  ["x-ratelimit-reset", String(in2024 / 1000 + 30)],
  ["x-ratelimit-reset", String(in2024 + 30_000)],
])("without Retry-After, uses %s: %s as a hint", (name, value) => {
  expect(wait({ [name]: value }, in2024)).toBe(30_000);
});

test("prefers Retry-After over hints", () => {
  expect(wait({ "retry-after": "1", "ratelimit-reset": "30" })).toBe(1000);
});

test("returns null without a header", () => {
  expect(wait({})).toBeNull();
});
