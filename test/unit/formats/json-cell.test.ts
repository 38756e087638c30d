import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonCell, plainEscapes } from "../../../src/formats/json-cell.js";

it("takes any JSON as it is", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(jsonCell(json)).toBe(json);
    }),
  );
});

it.each([
  ["{'a': 1}", undefined],
  ["1e99999", undefined],
  ["1".repeat(10_000), undefined],
  ['"3e99999 is a text"', '"3e99999 is a text"'],
  ['"\\"3e99999"', '"\\"3e99999"'],
  ['{"a" : 1.50}', '{"a" : 1.50}'],
])("takes %s as %s", (text, cell) => {
  expect(jsonCell(text)).toBe(cell);
});

it.each([
  ['"\\u0000"', '"\0"'],
  ['"\\\\u0000"', '"\\\\u0000"'],
  ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
  ['"\\ud83d"', '"\ud83d"'],
  ['"\\ude00\\ud83d"', '"\ude00\ud83d"'],
  ['"\\u00e9\\n"', '"\\u00e9\\n"'],
])("turns the escapes of %j into characters where a database refuses them", (json, plain) => {
  expect(plainEscapes(json)).toBe(plain);
});
