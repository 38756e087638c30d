import { expect, test } from "vitest";
import { ratioOf, spreadOf } from "../../bench/statistics.mjs";

test("the median of an odd number of values is the middle one", () => {
  expect(spreadOf([30, 1, 2])).toEqual({ median: 2, least: 1, most: 30 });
});

test("the median of an even number of values lies between the two middle ones", () => {
  expect(spreadOf([4, 1, 10, 2])).toEqual({ median: 3, least: 1, most: 10 });
});

test("values are compared as numbers and not modified", () => {
  const values = [10, 9, 100];
  expect(spreadOf(values).median).toBe(10);
  expect(values).toEqual([10, 9, 100]);
});

test("an empty list has no median", () => {
  expect(() => spreadOf([])).toThrow("no values");
});

test("ratios are computed pair by pair", () => {
  // The machine was half as fast in the second round; the ratio is the same.
  expect(ratioOf([100, 50], [200, 100])).toEqual({ median: 0.5, least: 0.5, most: 0.5 });
  expect(ratioOf([1, 4, 9], [1, 2, 3])).toEqual({ median: 2, least: 1, most: 3 });
});
