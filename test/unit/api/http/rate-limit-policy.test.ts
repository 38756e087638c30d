import { expect, test } from "vitest";
import { rateLimitPolicy } from "../../../../src/api/http/rate-limit-headers.js";

test.each([
  ['"burst";q=100;w=10', { count: 100, perMs: 10_000 }],
  ["100;w=10", { count: 100, perMs: 10_000 }],
  ['"minute";q=60;w=60, "second";q=5;w=1', { count: 60, perMs: 60_000 }],
  [['"second";q=5;w=1', '"minute";q=600;w=60'], { count: 5, perMs: 1_000 }],
  ['"day";q=10000;w=86400, "second";q=20;w=1', { count: 20, perMs: 1_000 }],
  ['"day";q=10000;w=86400', null],
  ['"bytes";q=100;qu="content-bytes";w=1', null],
  ['"requests";q=100;qu="requests";w=1', { count: 100, perMs: 1_000 }],
  ['"default";q=0;w=1', null],
  ['"default";q=100', null],
  ["what is this", null],
])("%j allows %j", (policy, expected) => {
  expect(rateLimitPolicy({ "ratelimit-policy": policy })).toEqual(expected);
});

test("returns null without a header", () => {
  expect(rateLimitPolicy({})).toBeNull();
});
