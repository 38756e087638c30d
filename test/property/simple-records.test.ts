import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CsvRecord, readRecords } from "../../src/formats/csv/csv-records.js";
import { type ParsedRecord, RecordParser } from "../../src/formats/csv/record-parser.js";
import type { CsvDialect } from "../../src/formats/csv/scan-cells.js";

const dialect = (comment: string | null): CsvDialect => ({
  delimiter: ",",
  comment,
  spaced: false,
  lineEnd: "lf",
});

/** Mostly simple records, with everything else in between. */
const text = fc.string({
  unit: fc.constantFrom(",", ",", "\n", "\n", "\r\n", "\r", "#", "##", " ", "a", "bc", '"', '"d"'),
  maxLength: 60,
});

/** What csv-parse makes of all of it; null if it refuses. */
async function parsed(content: string, own: CsvDialect): Promise<readonly ParsedRecord[] | null> {
  const parser = new RecordParser(own, 0);
  const fault = (await parser.feed(Buffer.from(content))) ?? (await parser.feed(null));
  return fault === null ? parser.takeRecords() : null;
}

async function read(content: string, own: CsvDialect, size: number): Promise<CsvRecord[] | null> {
  async function* chunks(): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: CsvRecord[] = [];
  try {
    const input = { name: "in.csv", chunks: chunks(), start: 0, lineEnd: "lf" } as const;
    for await (const records of readRecords(input, own, 0)) found.push(...records);
  } catch {
    return null;
  }
  return found;
}

describe("records", () => {
  it("are those of csv-parse, however the bytes arrive", async () => {
    const size = fc.integer({ min: 1, max: 70 });
    const comments = fc.constantFrom(null, "#", "##");
    await fc.assert(
      fc.asyncProperty(text, size, comments, async (content, chunk, comment) => {
        const own = dialect(comment);
        const found = await read(content, own, chunk);
        const wanted = await parsed(content, own);
        const shown = (records: readonly ParsedRecord[] | null) =>
          records?.map(({ cells, end }) => ({ cells, end })) ?? null;
        expect(shown(found)).toEqual(shown(wanted));
        const lines = (to: number): number => content.slice(0, to).split("\n").length - 1;
        for (const { end, endLine } of found ?? []) {
          expect(endLine).toBe(lines(end) + (content[end - 1] === "\n" ? 0 : 1));
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
