import type { CellValue } from "../../../../src/formats/typed-column.js";
import { expect, it } from "vitest";
import type { ColumnType } from "../../../../src/core/column.js";
import { copyText } from "../../../../src/outputs/postgres/copy-text.js";
import { ColumnBatch } from "../../../../src/outputs/warehouse/column-batch.js";

// Expected texts follow the PostgreSQL manual: COPY, Text Format, and arrays (section 8.15.6).

it.each<[ColumnType, CellValue, string]>([
  ["text", null, "\\N"],
  ["text", "", ""],
  ["text", "\\N", "\\\\N"],
  ["text", "a\tb\nc\r", "a\\tb\\nc\\r"],
  ["text", "ä€\u{1F600}", "ä€\u{1F600}"],
  ["boolean", true, "t"],
  ["boolean", false, "f"],
  ["count", 258n, "258"],
  ["count", -1n, "-1"],
  ["timestamp", 1n, "J2440588 00:00:00.000001+00"],
  ["timestamp", -1n, "J2440587 23:59:59.999999+00"],
  ["timestamp", 946_684_800_000_001n, "J2451545 00:00:00.000001+00"],
  ["text[]", [], "{}"],
  ["text[]", ["a", "ä,{}"], '{"a","ä,{}"}'],
  ["text[]", ['"\\', "\n"], '{"\\\\"\\\\\\\\","\\n"}'],
])("writes %s: %s", (type, value, expected) => {
  const batch = new ColumnBatch(1, { rows: 10, characters: 1000 });
  batch.add([value]);
  expect(copyText([type], batch).toString()).toBe(`${expected}\n`);
});
