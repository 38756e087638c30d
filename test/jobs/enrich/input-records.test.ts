import { expect, test } from "vitest";
import type { InputRecord } from "../../../src/core/manifest.js";
import { sharedFacts } from "../../../src/jobs/enrich/finish/manifest.js";

const plain: InputRecord = {
  path: "a.csv",
  bytes: 10,
  rows: 1,
  format: "csv",
  delimiter: ",",
  header: "record",
  item_column: "ip",
  item_column_by: "name",
  item_column_share: 1,
  kind_column: null,
  kind_column_by: null,
};
const { path: _path, bytes: _bytes, rows: _rows, ...facts } = plain;

test("inputs that are read alike share every fact", () => {
  expect(sharedFacts([plain, { ...plain, path: "b.csv", bytes: 20, rows: 2 }])).toEqual(facts);
});

test("a fact in which inputs differ is null", () => {
  const other = { ...plain, delimiter: ";" };
  expect(sharedFacts([plain, other])).toEqual({ ...facts, delimiter: null });
});

test.each([
  ["the first", [{ ...plain, skipped_lines: 3 }, plain]],
  ["a later one", [plain, { ...plain, skipped_lines: 3 }]],
])("a fact that only %s has is null", (_, inputs) => {
  expect(sharedFacts(inputs)).toEqual({ ...facts, skipped_lines: null });
});

test("a fact that all have is kept", () => {
  const titled = { ...plain, skipped_lines: 3 };
  expect(sharedFacts([titled, titled])).toEqual({ ...facts, skipped_lines: 3 });
});
