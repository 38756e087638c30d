import type { CellValue, StoredType } from "../../../../src/io/formats/typed-column.js";
import { expect, it } from "vitest";
import { copyText } from "../../../../src/io/output/postgres/copy-text.js";
import { ColumnBatch } from "../../../../src/io/output/row-cells.js";

// Expected texts follow the PostgreSQL manual: COPY, Text Format, and arrays (section 8.15.6).

it.each<[StoredType, CellValue, string]>([
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
  ["timestamp_local", -1n, "J2440587 23:59:59.999999"],
  ["date", 0, "J2440588"],
  ["date", -719_162, "J1721426"],
  ["decimal(10,2)", -5n, "-0.05"],
  ["decimal(38,0)", 10n ** 37n, "10000000000000000000000000000000000000"],
  ["integer", -(2n ** 63n), "-9223372036854775808"],
  ["number", Number.NEGATIVE_INFINITY, "-Infinity"],
  ["number", -0, "-0"],
  ["float", Math.fround(0.1), "0.10000000149011612"],
  ["numeric", "NaN", "NaN"],
  ["json", '{"a":"\\n"}', '{"a":"\\\\n"}'],
  ["text[]", [], "{}"],
  ["text[]", ["a", "ä,{}"], '{"a","ä,{}"}'],
  ["text[]", ['"\\', "\n"], '{"\\\\"\\\\\\\\","\\n"}'],
])("writes %s: %s", (type, value, expected) => {
  const batch = new ColumnBatch(1, { rows: 10, characters: 1000 });
  batch.add([value]);
  expect(copyText([type], batch).toString()).toBe(`${expected}\n`);
});
