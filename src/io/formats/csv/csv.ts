import { elementTexts, joinedText } from "../../../core/json-members.js";
import type { Row } from "../../../core/row.js";
import { recognisedKind, type ColumnFlags, findColumns } from "../columns/find-columns.js";
import {
  columnName,
  warnOfDuplicateName,
  matchColumn,
  positionalName,
} from "../columns/name-columns.js";
import {
  headLines,
  peek,
  Sample,
  isHeadComplete,
  type Delimiter,
  isLong,
} from "../reading/sample.js";
import { contentLines, flatMapLists, mapLists, type TextBytes, limits } from "../reading/lines.js";
import type {
  FormatReading,
  InputReading,
  ReadableFormat,
  ReadOptions,
  SourceLayout,
  WritableFormat,
} from "../types.js";
import { csvOutput } from "./csv-output.js";
import { type CsvRecord, readRecords } from "./csv-records.js";
import { cutOff } from "../../../core/wording/printable.js";
import { findHeader, findPreamble, isRule, namesIn, skippedIn } from "./find-header.js";

/** Comma-separated values (RFC 4180); also semicolons or tabs if the input uses them. */
export const csv: ReadableFormat & WritableFormat = {
  extensions: ["csv"],
  read: (bytes, options) =>
    read(bytes, options, options.from === undefined ? [",", "\t", ";", "|"] : [",", ";", "|"]),
  ...csvOutput(","),
};

export const tsv: ReadableFormat & WritableFormat = {
  extensions: ["tsv", "tab"],
  read: (bytes, options) => read(bytes, options, ["\t"]),
  ...csvOutput("\t"),
};

const layoutOfCells = { format: "csv", delimiter: ",", comment: null, spaced: false } as const;

/** Reads the copy of a table: an array of values a line. The first line has the names. */
export async function readCells(bytes: TextBytes, options: ReadOptions): Promise<FormatReading> {
  const records = new Sample(cellRecords(bytes));
  let found = options.startAt;
  if (found === null) {
    const flags = { ...options, header: true };
    const { columns, ...layout } = await findLayout(bytes.name, records, () => null, flags);
    found = { columns, reading: { ...layoutOfCells, ...layout } };
  }
  return rowsOf(bytes, found, records.all(1));
}

/** The records of a copy, its header included. */
export function cellRecords(bytes: TextBytes): AsyncGenerator<readonly CsvRecord[]> {
  return mapLists(
    contentLines(bytes, () => false),
    ({ text, size }) => {
      const values = elementTexts(text);
      const nulls = values.map((value) => value === "null");
      return { cells: values.map(joinedText), nulls, size };
    },
  );
}

/** @param candidates possible delimiters of an input without `--delimiter`; the first is the default */
async function read(
  bytes: TextBytes,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<FormatReading> {
  const { startAt } = options;
  if (startAt === null) {
    const { delimiter } = options;
    return detect(bytes, options, delimiter === undefined ? candidates : [delimiter]);
  }
  const { delimiter, comment, spaced, skippedLines } = startAt.reading;
  const dialect = { delimiter: delimiter ?? ",", comment, spaced, lineEnd: bytes.lineEnd };
  const records = new Sample(readRecords(bytes, dialect, skippedLines));
  return rowsOf(bytes, startAt, records.all(recordsOfHeader(startAt.reading)));
}

type Delimiters = readonly [Delimiter, ...Delimiter[]];

/** The rows of records: one for each item column. */
function rowsOf(
  { warnings }: TextBytes,
  { columns, reading }: SourceLayout,
  records: AsyncGenerator<readonly CsvRecord[]>,
): FormatReading {
  const { items, kind } = reading;
  if (reading.mayBeRow === true) {
    const line = cutOff(columns.join(", "), 120);
    warnings.push(`the header may be a row: ${line}; --no-header reads it as one`);
  }
  for (const item of items) warnOfDuplicateName(columns, item, warnings);
  if (kind !== null) warnOfDuplicateName(columns, kind, warnings);
  return { columns, reading, rows: flatMapLists(records, rowMaker(columns.length, reading)) };
}

async function detect(
  bytes: TextBytes,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<FormatReading> {
  const { lineEnd } = bytes;
  const { head, chunks } = await peek(bytes.chunks, isHeadComplete);
  const mark = options.comment ?? (options.from === undefined ? "#" : null);
  const start = headLines(head, { lineEnd, comment: mark });
  const { comments } = start;
  const comment = options.comment ?? (comments.length > 0 ? mark : null);
  const table = findPreamble(start, candidates, options);
  const { content, skippedLines, rule } = table;
  const delimiter = table.delimiter ?? candidates[0];
  const spaced = isSpaced(content, delimiter);
  const dialect = { delimiter, comment, spaced, lineEnd };
  const sample = new Sample(readRecords({ ...bytes, chunks }, dialect, skippedLines));
  const named: NamesIn = (width) => namesIn(comments, delimiter, width);
  const { columns, ...layout } = await findLayout(bytes.name, sample, named, options);
  const naming = layout.header === "comment" ? named(columns.length)?.comment : undefined;
  const told = comments.filter((line) => line !== naming);
  const hasRule = rule !== null && layout.header === "record";
  const lines = (skippedLines || told.length) + (hasRule ? 1 : 0);
  const reading: InputReading = {
    format: options.format,
    delimiter,
    comment,
    spaced,
    ...(skippedLines > 0 && { skippedLines }),
    ...(hasRule && { hasRule }),
    ...skippedIn([...told, ...table.skipped], lines),
    ...layout,
  };
  return rowsOf(bytes, { columns, reading }, sample.all(recordsOfHeader(reading)));
}

/** How many records are no rows: the header, and the rule below it. */
function recordsOfHeader({ header, hasRule }: InputReading): number {
  return header === "record" ? (hasRule === true ? 2 : 1) : 0;
}

/** Whether quoted cells follow a space: `"192.0.2.1", "ssh, twice"`. */
function isSpaced(lines: readonly string[], delimiter: Delimiter): boolean {
  if (delimiter === "\t") return false;
  const pattern = new RegExp(`^"(?:[^"]|"")*"\\${delimiter} +"`);
  return lines.filter((line) => pattern.test(line)).length * 2 >= Math.max(1, lines.length);
}

function rowMaker(
  width: number,
  { items, kind }: Pick<InputReading, "items" | "kind">,
): (record: CsvRecord) => readonly Row[] {
  let number = 0;
  return ({ cells, nulls, size }) => {
    const extra = cells.length > width ? surplus(cells.slice(width)) : null;
    const own = cells.length > width ? cells.slice(0, width) : cells;
    while (own.length < width) own.push("");
    const kindText = kind === null ? "" : (own[kind.index] ?? "");
    return items.map((item, index) => ({
      number: ++number,
      cells: own,
      ...(nulls !== undefined && { nulls }),
      extra,
      json: null,
      itemText: own[item.index] ?? "",
      kindText: kind?.by === "neighbour" ? recognisedKind(kindText) : kindText,
      fault: null,
      size: index === 0 ? size : 0,
      ...(items.length > 1 && { column: columnName(item) }),
    }));
  };
}

/** The surplus cells that aren't empty, in order, as a JSON array; null if there are none. */
function surplus(cells: readonly string[]): string | null {
  const filled = cells.filter((cell) => cell !== "");
  return filled.length === 0 ? null : JSON.stringify(filled);
}

type NamesIn = (width: number) => ReturnType<typeof namesIn>;

type LayoutOptions = ColumnFlags & Pick<ReadOptions, "header">;

/**
 * Finds the layout from flags and the first records, reading no more than needed.
 * @param named names of that many columns from comments; null for none
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
async function findLayout(
  input: string,
  records: Sample<CsvRecord>,
  named: NamesIn,
  options: LayoutOptions,
) {
  await records.until(() => records.read.length > 0);
  let sampled: number = limits.sampleRecords;
  const draft = () => draftOf(records.read, named, { ...options, sampled });
  const found = await findColumns(
    {
      input,
      columns() {
        const { names, rows } = draft();
        return names.map((name, index) => ({
          name,
          cells: rows.map(({ cells }) => cells[index] ?? ""),
          neighbours: [index - 1, index + 1].filter((n) => n >= 0 && n < names.length),
        }));
      },
      names: () => draft().names,
      named(wanted) {
        const { names } = draft();
        return names.length === 0 ? { name: wanted, index: 0 } : matchColumn(names, wanted);
      },
      async sample(count) {
        sampled = count;
        // One more, for the header. Very long records end the sample early.
        await records.until(() => records.read.length > count || isLong(records.read));
        return records.read.length > count;
      },
      isEmpty: () => draft().rows.length === 0,
    },
    options,
  );
  const { names, header, mayBeRow } = draft();
  return { columns: names, header, ...(mayBeRow && { mayBeRow }), ...found };
}

function draftOf(
  records: readonly CsvRecord[],
  named: NamesIn,
  options: LayoutOptions & { readonly sampled: number },
) {
  const first = records[0]?.cells ?? [];
  const comment = named(first.length);
  const found = findHeader(records, comment, options);
  const header = found === "unclear" ? "record" : found;
  const below = records[1]?.cells ?? [];
  const begin = header === "record" ? (isRule(below.join("|")) ? 2 : 1) : 0;
  const none = first.map((_, index) => positionalName(index));
  const names = { record: first, comment: comment?.names ?? none, none }[header];
  const rows = records.slice(begin, begin + options.sampled);
  return { header, mayBeRow: found === "unclear", names, rows };
}
