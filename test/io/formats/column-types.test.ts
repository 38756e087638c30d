import fc from "fast-check";
import { expect, it } from "vitest";
import { columnTypes } from "../../../src/io/formats/column-types.js";

const { cellOf: jsonCell } = columnTypes.json;

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
