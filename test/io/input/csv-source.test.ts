import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SourceFormat } from "../../../src/io/formats/types.js";
import { piped, readSource } from "./sources/sources-reading.js";
import { anyText } from "../../helpers/any-text.js";

/** Cells with everything that makes CSV hard. A lone `\r` occurs only in quoted cells. */
const cell = fc.oneof(
  // A byte order mark at the very start would be consumed.
  anyText({ maxLength: 12 }).filter((text) => !text.startsWith("\ufeff")),
  fc.string({
    unit: fc.constantFrom(",", "\t", '"', "\n", "\r\n", "\r", "#", " ", "a", "é", "😀"),
    maxLength: 12,
  }),
);

const table = fc.integer({ min: 1, max: 5 }).chain((width) =>
  fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
    minLength: 1,
    maxLength: 12,
  }),
);

const chunkSize = fc.integer({ min: 1, max: 40 });
const noHeader = { header: false, itemColumn: "column_1" };
const behind = fc.constantFrom("\n", "\r\n");

describe.each([
  ["csv", ","],
  ["tsv", "\t"],
] as const)("%s source", (format: SourceFormat, delimiter) => {
  it("returns the cells that csv-stringify wrote, however the bytes arrive", async () => {
    const quoting = fc.constantFrom(
      { quoted: true, quoted_empty: true },
      // A record of one empty cell would be a blank line; csv-stringify does not quote for CR.
      { quoted_match: /[\r\n]|^$/ },
    );
    await fc.assert(
      fc.asyncProperty(
        table,
        chunkSize,
        behind,
        quoting,
        async (cells, size, record_delimiter, quotes) => {
          const content = stringify(cells, { delimiter, record_delimiter, ...quotes });
          const { rows } = await readSource(format, piped(content, size), noHeader);
          expect(rows.map((row) => row.cells)).toEqual(cells);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("keeps invalid UTF-8 sequences distinct", async () => {
    const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array));
    await fc.assert(
      fc.asyncProperty(bytes, bytes, chunkSize, async (one, other, size) => {
        const quoted = (content: Buffer): string =>
          `"${content.toString("latin1").replaceAll('"', '""')}"`;
        const text = `item\n${quoted(one)}\n${quoted(other)}\n`;
        const { rows } = await readSource(format, piped(Buffer.from(text, "latin1"), size));
        const [first, second] = rows.map((row) => row.itemText);
        expect(first === second).toBe(one.equals(other));
      }),
    );
  });
});
