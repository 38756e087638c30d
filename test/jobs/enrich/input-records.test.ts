import { expect, test } from "vitest";
import type { InputRecord } from "../../../src/core/manifest.js";
import { sharedFacts } from "../../../src/jobs/enrich/finish/publish.js";

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

const [other, titled] = [
  { ...plain, path: "b.csv", bytes: 20, rows: 2 },
  { ...plain, skipped_lines: 3 },
];

test.each<[string, readonly InputRecord[], object]>([
  ["share every fact that is alike", [plain, other], facts],
  [
    "have null where they differ",
    [plain, { ...other, delimiter: ";" }],
    { ...facts, delimiter: null },
  ],
  ["have null for what only the first has", [titled, plain], { ...facts, skipped_lines: null }],
  ["have null for what only a later one has", [plain, titled], { ...facts, skipped_lines: null }],
  ["share what all have", [titled, titled], { ...facts, skipped_lines: 3 }],
])("several inputs %s", (_, inputs, shared) => {
  expect(sharedFacts(inputs)).toEqual(shared);
});
