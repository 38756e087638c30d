import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { didYouMean } from "../../../src/core/wording/did-you-mean.js";
import { printable, printableData } from "../../../src/core/wording/printable.js";
import {
  counted,
  formatBytes,
  formatCount,
  formatPercent,
  formatSeconds,
  formatSpeed,
} from "../../../src/core/wording/quantity.js";
import { parseYaml } from "../../../src/core/wording/yaml-text.js";

const names = ["note", "indicator", "data"];

test.each<[string, string, readonly string[], string | null]>([
  ["a missing letter", "indcator", names, "indicator"],
  ["two letters swapped", "idnicator", names, "indicator"],
  ["other letter case", "INDICATOR", names, "indicator"],
  ["two near candidates", "indicatr", ["indicators", "indicator"], "indicator"],
  ["several that begin with the word", "rat", ["raw", "rate-limit", "rate"], "rate"],
  ["a candidate with spaces, which stay", "dta", [" Data "], " Data "],
  ["nothing near", "hostname", names, null],
  ["single letters", "a", ["b", "c"], null],
])("didYouMean with %s: %s", (_, word, candidates, meant) => {
  expect(didYouMean(word, candidates)).toBe(meant);
});

const controls = [
  ...range(0x00, 0x08),
  ...range(0x0b, 0x1f),
  ...range(0x7f, 0x9f),
  0x061c,
  0x200e,
  0x200f,
  ...range(0x2028, 0x202e),
  ...range(0x2066, 0x2069),
];

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe.each([
  ["a message", printable],
  ["data", printableData],
])("in %s", (_, shown) => {
  test("every control and bidirectional character is shown by its code point", () => {
    const codes = controls.map((code) => code.toString(16).toUpperCase().padStart(4, "0"));
    expect(controls.map((code) => shown(`a${String.fromCharCode(code)}b`))).toEqual(
      codes.map((code) => `a<U+${code}>b`),
    );
  });

  test("everything else stays: letters of every script, emoji, line feeds", () => {
    const text = "naïve\nשלום عربى 例え 👩‍💻 <U+202E> \u00AD\u200B";
    expect(shown(text)).toBe(text);
  });
});

test("a tab in a message is a space; tabs and line ends of data stay", () => {
  expect(printable("a\tb")).toBe("a b");
  expect(printableData("a\tb\r\nc\rd\n")).toBe("a\tb\r\nc<U+000D>d\n");
});

test.each([
  [formatCount, 0, "0"],
  [formatCount, 1000, "1,000"],
  [formatBytes, 1000, "1.0 kB"],
  [formatBytes, 99_960, "100 kB"],
  [formatBytes, 999_600, "1.0 MB"],
  [formatSeconds, 9.94, "9.9 s"],
  [formatSeconds, 9.96, "10 s"],
  [formatSeconds, 59.6, "1 min"],
  [formatSeconds, 7_210, "2 h"],
  [formatSeconds, 103, "1 min 43 s"],
  [formatSeconds, 7500, "2 h 5 min"],
  [formatSpeed, 9.94, "9.9"],
  [formatSpeed, 99.5, "100"],
  [formatSpeed, 12_345.6, "12,346"],
])("%o shows %d as %s", (format, quantity, text) => {
  expect(format(quantity)).toBe(text);
});

test.each([
  [0, 10, "0%"],
  [10, 10, "100%"],
  [1, 3, "33.3%"],
  [1, 100_000, "<0.1%"],
  [99_999, 100_000, ">99.9%"],
])("%d of %d", (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

test("reads whatever JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2, "\t"), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseYaml(text)).toMatchObject({ value: JSON.parse(text) as unknown, fault: null });
    }),
  );
});

test("reports nesting that is too deep as a fault", () => {
  expect(parseYaml("[".repeat(10_000)).fault).not.toBeNull();
});

test.each([
  [0, "row", "0 rows"],
  [1, "row", "1 row"],
  [1234, "row", "1,234 rows"],
  [2, "address", "2 addresses"],
  [1, "duplicate entry", "1 duplicate entry"],
  [2, "duplicate entry", "2 duplicate entries"],
  [2, "day", "2 days"],
])("%d of %s is %j", (count, noun, text) => {
  expect(counted(count, noun)).toBe(text);
});
