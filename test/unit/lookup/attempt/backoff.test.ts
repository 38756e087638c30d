import { expect, test } from "vitest";
import { backoffMs } from "../../../../src/lookup/attempt/retry.js";

test("the bound of the wait doubles from half a second", () => {
  expect([0, 1, 2, 3].map((retry) => backoffMs(retry, 0.999_999, null))).toEqual([
    expect.closeTo(500, 0),
    expect.closeTo(1000, 0),
    expect.closeTo(2000, 0),
    expect.closeTo(4000, 0),
  ]);
});

test("the wait may be anything below its bound, down to nothing", () => {
  expect([backoffMs(3, 0, null), backoffMs(3, 0.5, null)]).toEqual([0, 2000]);
});

test("no wait is longer than half a minute, however many retries there were", () => {
  expect(backoffMs(5000, 0.5, null)).toBe(15_000);
});

test("what the service asked for is waited in full, with the jitter on top", () => {
  expect(backoffMs(0, 0.5, 7000)).toBe(7250);
});

test("other bounds can be given", () => {
  const bounds = { firstMs: 100, mostMs: 150 };
  expect([backoffMs(0, 0.5, null, bounds), backoffMs(9, 0.5, null, bounds)]).toEqual([50, 75]);
});
