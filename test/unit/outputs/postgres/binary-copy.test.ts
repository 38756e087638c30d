import { expect, it } from "vitest";
import type { ColumnType } from "../../../../src/core/columns.js";
import { BinaryCopy } from "../../../../src/outputs/postgres/binary-copy.js";
import type { CellValue } from "../../../../src/outputs/warehouse/cell-values.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";

// The bytes are those of PostgreSQL's documentation of COPY, Binary Format, and of the types' own
// send functions.

it("frames the rows", () => {
  const { header, fields, trailer } = encode("text", null);
  expect(header).toBe("5047434f50590aff0d0a000000000000000000");
  expect(fields).toBe("0001ffffffff");
  expect(trailer).toBe("ffff");
});

it.each<[ColumnType, CellValue, string]>([
  ["text", "", "00000000"],
  ["text", "a\tb", "00000003610962"],
  ["text", "ä€\u{1F600}", "00000009c3a4e282acf09f9880"],
  ["boolean", true, "0000000101"],
  ["boolean", false, "0000000100"],
  ["count", 258n, "000000080000000000000102"],
  ["count", -1n, "00000008ffffffffffffffff"],
  ["timestamp", 946_684_800_000_001n, "000000080000000000000001"],
  ["text[]", [], "0000000c000000000000000000000019"],
  ["text[]", ["a", "ä"], "0000001f0000000100000000000000190000000200000001000000016100000002c3a4"],
])("writes %s: %s", (type, value, expected) => {
  expect(encode(type, value).fields).toBe("0001" + expected);
});

it("counts what it holds, and holds nothing once cleared", () => {
  const copy = new BinaryCopy(["text"], [() => "abc"]);
  copy.add(anEnrichedRow());
  copy.add(anEnrichedRow());
  expect({ rows: copy.rows, bytes: copy.bytes }).toEqual({ rows: 2, bytes: 18 });
  copy.clear();
  expect({ rows: copy.rows, bytes: copy.bytes }).toEqual({ rows: 0, bytes: 0 });
});

it("holds rows that are larger than its pieces", () => {
  const large = "ä".repeat(600_000);
  const copy = new BinaryCopy(["text", "text"], [() => large, () => "end"]);
  for (let n = 0; n < 3; n++) copy.add(anEnrichedRow());
  const bytes = Buffer.concat(copy.data());
  expect(bytes.length).toBe(19 + 3 * (2 + 4 + 1_200_000 + 4 + 3) + 2);
  expect(bytes.subarray(-5, -2).toString()).toBe("end");
});

function encode(
  type: ColumnType,
  value: CellValue,
): { header: string; fields: string; trailer: string } {
  const copy = new BinaryCopy([type], [() => value]);
  copy.add(anEnrichedRow());
  const bytes = Buffer.concat(copy.data());
  return {
    header: bytes.toString("hex", 0, 19),
    fields: bytes.toString("hex", 19, bytes.length - 2),
    trailer: bytes.toString("hex", bytes.length - 2),
  };
}
