import fc from "fast-check";
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { addedColumns, columns } from "../../../../src/core/columns.js";
import { csvOutput } from "../../../../src/io/formats/csv/csv-output.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import type { EncoderOptions } from "../../../../src/io/formats/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { ipResult } from "../../../client/api/answers.js";
import { anyText } from "../../../helpers/any-text.js";

const base: EncoderOptions = { columns: ["ip", "note"], prefix: "rep_", shape: "flat" };

describe("a CSV output", () => {
  it("writes the input's columns first, then the added ones with the prefix", () => {
    const { header } = csvOutput(",").write({ ...base, prefix: "x_" });
    expect(header.startsWith("ip,note,x_item,x_kind,x_status,")).toBe(true);
    expect(header.trim().split(",")).toHaveLength(2 + columns.length);
  });

  it.each([",", "\t"] as const)(
    "preserves cells and order of all kinds of rows for an RFC 4180 reader, separated by %j",
    (delimiter) => {
      const cell = fc.oneof(
        fc.string(),
        anyText(),
        fc.constantFrom('"', "a,b\tc", "x\r\ny", "", "é", "y".repeat(5000), '"'.repeat(3000)),
      );
      fc.assert(
        fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 60 }), (cells) => {
          const encoder = csvOutput(delimiter).write(base);
          const rows = cells.map((each) => anEnrichedRow({ cells: each }));
          const half = Math.floor(rows.length / 2);
          const text = encoder.encode(rows.slice(0, half)) + encoder.encode(rows.slice(half));
          const read: string[][] = parse(text, { delimiter });
          expect(read.map((record) => record.slice(0, 2))).toEqual(cells);
        }),
      );
    },
  );

  it("joins lists with a bar and leaves null empty", () => {
    const record = cellsOf(anEnrichedRow({}, { query: ipResult() }));
    expect(record["rep_tags"]).toBe("credentials:brute-force|scanner:web");
    expect(record["rep_bogon"]).toBe("false");
    expect(record["rep_honeypot_observations"]).toBe("1");
    expect(record["rep_quick_activity"]).toBe("");
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])(
    "neutralises an added cell that starts like %j",
    (name) => {
      const row = anEnrichedRow({}, { query: { asn: { name } } });
      expect(cellsOf(row)["rep_as_name"]).toBe(`'${name}`);
    },
  );

  it.each([",", "\t"])(
    "reads back every value that it neutralised, separated by %j",
    (delimiter) => {
      const start = fc.constantFrom("", "'", "''", "=", "'=", "''@", "'-", "'a", "'\t", "+");
      const value = fc.tuple(start, anyText()).map((parts) => parts.join(""));
      fc.assert(
        fc.property(value, fc.array(value.filter((tag) => !tag.includes("|"))), (name, tags) => {
          const encoder = csvOutput(delimiter).write(base);
          const line = encoder.encode([anEnrichedRow({}, { query: { asn: { name }, tags } })]);
          const record = csvOutput(delimiter).records.layout(encoder.header, "rep_")?.read(line);
          expect(record?.text("as_name")).toBe(name);
          expect(record?.list("tags").join("|")).toBe(tags.join("|"));
        }),
      );
    },
  );

  it.each([
    ["a written column", { ...base, columns: ["ip", " rep_status "] }],
    [
      "one that is left out",
      { ...base, columns: ["ip", "rep_asn"], added: addedColumns({ only: ["tags"] }) },
    ],
  ])("rejects a prefix that makes %s clash with an input column", (_, options) => {
    const [, clashing = ""] = options.columns;
    expect(() => csvOutput(",").write(options)).toThrow(
      expect.objectContaining({
        name: "UsageError",
        message: expect.stringContaining(clashing.trim()) as string,
        hint: expect.stringContaining("--prefix") as string,
      }),
    );
  });
});

function cellsOf(row: EnrichedRow): Record<string, string> {
  const encoder = csvOutput(",").write(base);
  const [record]: Record<string, string>[] = parse(encoder.header + encoder.encode([row]), {
    columns: true,
  });
  return record ?? {};
}
