import fc from "fast-check";
import { expect, test } from "vitest";
import { pathSegment } from "../../../src/api/caller.js";

const unit = fc.constantFrom(..."aZ09_.-~!*'():/?#%& é".split(""), "\u{1F600}");

test("escapes any text as a URI component", () => {
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 300 }), (text) => {
      fc.pre(text !== "." && text !== "..");
      expect(pathSegment(text)).toBe(encodeURIComponent(text));
    }),
  );
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8::1", "2001%3Adb8%3A%3A1"],
  ["", ""],
  [".", "%2E"],
  ["..", "%2E%2E"],
  ["...", "..."],
  ["a\ud800b", "a%EF%BF%BDb"],
  ["a\n", "a%0A"],
])("escapes %j as %s", (text, segment) => {
  expect(pathSegment(text)).toBe(segment);
});

test("escapes a very long text", () => {
  expect(pathSegment(`${"a-".repeat(1_000_000)}é`)).toMatch(/^(?:a-){10}.*%C3%A9$/);
});
