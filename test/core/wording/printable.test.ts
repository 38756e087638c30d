import { expect, test } from "vitest";
import { printable, printableData } from "../../../src/core/wording/printable.js";

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

test.each([
  ["a message", printable],
  ["data", printableData],
])("every control and bidirectional character in %s is shown by its code point", (_, shown) => {
  const names = controls.map((code) => `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`);
  expect(controls.map((code) => shown(`a${String.fromCharCode(code)}b`))).toEqual(
    names.map((name) => `a${name}b`),
  );
});

test.each([
  ["a message", printable],
  ["data", printableData],
])("everything else in %s stays: letters of every script, emoji, line feeds", (_, shown) => {
  const text = "naïve\nשלום عربى 例え 👩‍💻 <U+202E> \u00AD\u200B";
  expect(shown(text)).toBe(text);
});

test("a tab in a message is a space", () => {
  expect(printable("a\tb")).toBe("a b");
});

test("tabs and line ends of data stay", () => {
  expect(printableData("a\tb\r\nc\rd\n")).toBe("a\tb\r\nc<U+000D>d\n");
});
