import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonFault } from "../../../src/webhooks/json-fault.js";

describe("findJsonFault", () => {
  it.each([
    ['{\n  "a": 1,\n}', 3, 1, 'expected a member name in double quotes, found "}"'],
    ['{\n  "a" 1}', 2, 7, 'expected ":" after a member name, found "1"'],
    ['{"a": 1 "b": 2}', 1, 9, 'expected "," or the end of the array or object, found "\\"b\\""'],
    ["[1 2]", 1, 4, 'expected "," or the end of the array or object, found "2"'],
    ["[1", 1, 3, 'expected "," or "]", found the end of the text'],
    ["[1,]", 1, 4, 'expected a value, found "]"'],
    ["{'a': 1}", 1, 2, "expected a value, found \"'a'\""],
    ['{"a":', 1, 6, "expected a value, found the end of the text"],
    ["", 1, 1, "expected a value, found the end of the text"],
    ['{"a": 1} 2', 1, 10, 'unexpected "2" after the end of the value'],
    ["01", 1, 2, 'unexpected "1" after the end of the value'],
    ['"a\nb"', 1, 1, 'unterminated string: "\\"a"'],
    ['"a\tb"', 1, 1, 'control character in the string "\\"a\\tb\\""'],
    ['"C:\\x"', 1, 1, 'invalid escape in "\\"C:\\\\x\\""; write a backslash itself as "\\\\"'],
    ['\n "abc', 2, 2, 'unterminated string: "\\"abc"'],
    ['{"a": 1, "\\u0061": 2}', 1, 10, 'duplicate member "a"'],
  ])("gives position and fault of %j", (text, line, column, message) => {
    expect(findJsonFault(text)).toEqual({ line, column, message });
  });

  it("reports nesting that is too deep, however deep", () => {
    expect(findJsonFault("[".repeat(1_000_000))?.message).toBe("nested deeper than 100 levels");
  });

  it("accepts whatever JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        expect(findJsonFault(JSON.stringify(value, null, indent))).toBeNull();
      }),
    );
  });

  it("rejects whatever JSON.parse rejects", () => {
    const damaged = fc
      .tuple(
        fc.jsonValue(),
        fc.nat(),
        fc.constantFrom("", ",", '"', "{", "]", "\\", "0", "e", "\n"),
      )
      .map(([value, at, insert]) => {
        const text = JSON.stringify(value);
        const cut = at % (text.length + 1);
        return text.slice(0, cut) + insert + text.slice(cut + 1);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        const fault = findJsonFault(text);
        if (fault?.message.startsWith("duplicate member ")) return;
        expect(fault === null).toBe(parses(text));
      }),
      { numRuns: 500 },
    );
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
