import { expect, it } from "vitest";
import { storedText } from "../../../../src/outputs/sql/stored-text.js";

it.each([
  ["plain", "plain", []],
  ["pair \u{1F600} whole", "pair \u{1F600} whole", []],
  ["a\0b\0", "a\uFFFDb\uFFFD", ["nul"]],
  ["\uD83D", "\uFFFD", ["surrogate"]],
  ["\uDE00\u{1F600}\uD83D", "\uFFFD\u{1F600}\uFFFD", ["surrogate"]],
  ["\0\uD800", "\uFFFD\uFFFD", ["nul", "surrogate"]],
])("stores %j as %j", (text, expected, faults) => {
  const told: string[] = [];
  expect(storedText(text, (fault) => told.push(fault))).toBe(expected);
  expect(told).toEqual(faults);
});
