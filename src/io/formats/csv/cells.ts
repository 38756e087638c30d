import { contentLines, mapLists, type TextBytes } from "../reading/lines.js";
import { Sample } from "../reading/sample.js";
import type { FormatReading, Reading, ReadOptions } from "../types.js";
import type { CsvRecord } from "./csv-records.js";
import { findLayout, rowsOf } from "./csv.js";

const layoutOfCells = { format: "csv", delimiter: ",", comment: null, spaced: false } as const;

/** Reads the copy of a table: an array of texts and nulls a line. The first line has the names. */
export async function readCells(reading: Reading, options: ReadOptions): Promise<FormatReading> {
  const { bytes, before, settled } = reading;
  const records = new Sample(cellRecords(bytes, before?.line ?? 0));
  let found = settled;
  if (found === null) {
    const flags = { ...options, header: true };
    const { columns, ...layout } = await findLayout(bytes.name, records, () => null, flags);
    found = { columns, reading: { ...layoutOfCells, ...layout } };
  }
  return rowsOf(reading, found.columns, found.reading, records.all(before === null ? 1 : 0));
}

/** The records of a copy, its header included. */
export function cellRecords(
  bytes: TextBytes,
  linesBefore: number,
): AsyncGenerator<readonly CsvRecord[]> {
  return mapLists(
    contentLines(bytes, linesBefore, () => false),
    ({ text, number, end }) => {
      const values = JSON.parse(text) as (string | null)[];
      const nulls = values.map((value) => value === null);
      const cells = values.map((value) => value ?? "");
      return { cells, nulls, line: number, endLine: number, end };
    },
  );
}
