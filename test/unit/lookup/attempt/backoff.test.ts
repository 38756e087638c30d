import { expect, test } from "vitest";
import { backoffMs } from "../../../../src/lookup/attempt/retry.js";

test("doubles the bound of the wait from half a second", () => {
  expect([0, 1, 2, 3].map((retry) => backoffMs(retry, 0.999_999, null))).toEqual([
    expect.closeTo(500, 0),
    expect.closeTo(1000, 0),
    expect.closeTo(2000, 0),
    expect.closeTo(4000, 0),
  ]);
});

test("waits for any time below the bound, down to none", () => {
  expect([backoffMs(3, 0, null), backoffMs(3, 0.5, null)]).toEqual([0, 2000]);
});

test("never waits longer than half a minute", () => {
  expect(backoffMs(5000, 0.5, null)).toBe(15_000);
});
