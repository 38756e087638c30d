import { UsageError } from "../core/errors.js";
import type { Row } from "../core/row.js";
import { noItemColumn, unknownColumn } from "./column-errors.js";
import type { CsvDialect } from "./csv-dialect.js";
import { type CsvRecord, readRecords } from "./csv-records.js";
import { type ChosenColumns, CsvRowMaker } from "./csv-rows.js";
import { type ColumnFlag, matchColumn, matchCustomary, warnOfTwins } from "./find-column.js";
import { type FormatReading, openSource, type Reading } from "./open-source.js";
import type { OpenFormat, SourceOptions } from "./types.js";

/** Comma-separated values (RFC 4180 and what is found in its place). */
export const openCsv: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, ",", options));

/** Tab-separated values, with the quoting of CSV as spreadsheets write it. */
export const openTsv: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, "\t", options));

async function begin(
  { bytes, resume, warnings }: Reading,
  delimiter: CsvDialect["delimiter"],
  options: SourceOptions,
): Promise<FormatReading> {
  const dialect = { delimiter, comment: options.comment, lineEnd: bytes.lineEnd };
  const records = readRecords(bytes, dialect, resume?.line ?? 0, warnings);
  const { columns, rest } =
    resume === null
      ? await readHeader(bytes.name, records, options.header)
      : { columns: resume.columns, rest: records };

  const chosen = chooseColumns(bytes.name, columns, options);
  warnOfTwins(columns, chosen.item, warnings);
  if (chosen.kind !== null) warnOfTwins(columns, chosen.kind, warnings);
  const toRows = new CsvRowMaker(columns, chosen, resume?.row ?? 0, warnings);
  return { columns, itemColumn: chosen.item.name, rows: readRows(rest, toRows) };
}

type RecordLists = AsyncGenerator<readonly CsvRecord[]>;

interface Header {
  readonly columns: readonly string[];
  readonly rest: RecordLists;
}

async function readHeader(name: string, records: RecordLists, header: boolean): Promise<Header> {
  const next = await records.next();
  const first = next.done === true ? [] : next.value;
  const top = first[0]?.cells;
  if (!header) {
    const columns = (top ?? []).map((_, index) => `column_${index + 1}`);
    return { columns, rest: putBack(first, records) };
  }
  if (top === undefined) throw emptyError(name);
  return { columns: top, rest: putBack(first.slice(1), records) };
}

async function* putBack(first: readonly CsvRecord[], rest: RecordLists): RecordLists {
  yield first;
  yield* rest;
}

async function* readRows(lists: RecordLists, toRows: CsvRowMaker): AsyncGenerator<readonly Row[]> {
  for await (const records of lists) yield toRows.make(records);
}

function chooseColumns(
  name: string,
  columns: readonly string[],
  { header, itemColumn, kindColumn }: SourceOptions,
): ChosenColumns {
  if (!header && columns.length === 0) {
    // Nothing at all, and no header to miss: no row will ask for a column.
    return { item: { name: itemColumn ?? "column_1", index: 0 }, kind: null };
  }
  const named = (flag: ColumnFlag["flag"], wanted: string): ChosenColumns["item"] => {
    const column = matchColumn(columns, wanted);
    if (column === null) throw unknownColumn(name, columns, { flag, wanted });
    return column;
  };
  const kind = kindColumn === null ? null : named("--kind-column", kindColumn);
  if (itemColumn !== null) return { item: named("--item-column", itemColumn), kind };
  const item = header ? matchCustomary(columns) : matchColumn(columns, "column_1");
  if (item === null) throw noItemColumn(name, columns);
  return { item, kind };
}

function emptyError(name: string): UsageError {
  return new UsageError("input_empty", `${name} is empty: it has no header and no rows`);
}
