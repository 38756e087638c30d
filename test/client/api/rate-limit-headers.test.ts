import { describe, expect, test } from "vitest";
import {
  rateLimitHintMs,
  rateLimitPolicy,
  retryAfterMs,
} from "../../../src/client/api/rate-limit-headers.js";
import { ManualClock } from "../../helpers/manual-clock.js";

test.each([
  [{ ratelimit: '"default";r=0;t=5' }, 5000],
  [{ "ratelimit-remaining": "0", "ratelimit-reset": "3" }, 3000],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "2" }, 2000],
  [{ ratelimit: '"minute";r=9;t=4, "day";r=0;t=900' }, 900_000],
  [{ ratelimit: ['"minute";r=0;t=4', '"day";r=0;t=900'] }, 900_000],
  [{ ratelimit: '"minute";r=9;t=4, "day";r=10;t=900' }, null],
  [{ ratelimit: '"default";r=0', "ratelimit-policy": '"default";q=100;w=60' }, null],
  [{ "x-ratelimit-remaining": "0" }, null],
  [{}, null],
])("%j asks to wait %s", (headers, expected) => {
  expect(rateLimitHintMs(headers, new ManualClock())).toBe(expected);
});

test.each([
  ['"burst";q=100;w=10', { count: 100, perMs: 10_000 }],
  ["100;w=10", { count: 100, perMs: 10_000 }],
  ['"minute";q=60;w=60, "second";q=5;w=1', { count: 60, perMs: 60_000 }],
  [['"second";q=5;w=1', '"minute";q=600;w=60'], { count: 5, perMs: 1_000 }],
  ['"day";q=10000;w=86400, "second";q=20;w=1', { count: 20, perMs: 1_000 }],
  ['"day";q=10000;w=86400', null],
  ['"bytes";q=100;qu="content-bytes";w=1', null],
  ['"default";q=0;w=1', null],
  ["what is this", null],
])("%j allows %j", (policy, expected) => {
  expect(rateLimitPolicy({ "ratelimit-policy": policy })).toEqual(expected);
});

describe("Retry-After", () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);

  function wait(headers: Record<string, string | string[]>, startMs = now): number | null {
    return retryAfterMs(headers, new ManualClock({ startMs }));
  }

  test.each([
    ["120", 120_000],
    ["1.5", 1500],
    ["0", 0],
    ["29241", 29_241_000],
    ["999999999", 365 * 24 * 3_600_000],
    [String(now / 1000), 365 * 24 * 3_600_000],
  ])("reads %j as seconds, at most a year", (text, ms) => {
    expect(wait({ "retry-after": text })).toBe(ms);
  });

  test.each([
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ])("reads %j as a date", (text) => {
    expect(wait({ "retry-after": text })).toBe(30_000);
  });

  test.each(["", "soon", "10 minutes", "Sun, 99 Nov 1994", "{}"])("ignores %j", (text) => {
    expect(wait({ "retry-after": text })).toBeNull();
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
});
