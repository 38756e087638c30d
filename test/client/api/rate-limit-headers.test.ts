import { expect, test } from "vitest";
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

const now = Date.UTC(1994, 10, 6, 8, 49, 7);
const year = 365 * 24 * 3_600_000;

test.each<[string, number | null]>([
  ["120", 120_000],
  ["1.5", 1500],
  ["0", 0],
  ["29241", 29_241_000],
  // At most a year.
  ["999999999", year],
  [String(now / 1000), year],
  // Dates.
  ["Sun, 06 Nov 1994 08:49:37 GMT", 30_000],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 30_000],
  ["Sun Nov  6 08:49:37 1994", 30_000],
  // Neither.
  ["", null],
  ["soon", null],
  ["10 minutes", null],
  ["Sun, 99 Nov 1994", null],
  ["{}", null],
])("Retry-After: %s is read as %s ms", (text, ms) => {
  expect(retryAfterMs({ "retry-after": text }, new ManualClock({ startMs: now }))).toBe(ms);
});

const in2024 = Date.UTC(2024, 0, 1);

test.each([
  ["ratelimit-reset", "30"],
  ["ratelimit", '"default";r=0;t=30'],
  ["ratelimit", "limit=100, remaining=0, reset=30"],
  ["x-ratelimit-reset", "30"],
  ["x-ratelimit-reset", String(in2024 / 1000 + 30)],
  ["x-ratelimit-reset", String(in2024 + 30_000)],
])("only without Retry-After, uses %s: %s as a hint", (name, value) => {
  const clock = new ManualClock({ startMs: in2024 });
  expect(retryAfterMs({ [name]: value }, clock)).toBe(30_000);
  expect(retryAfterMs({ [name]: value, "retry-after": "1" }, clock)).toBe(1000);
});
