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
  ItemColumn,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
} from "../types.js";
import { findPreamble, type CommentNames, namesIn, isRule, skippedIn } from "./find-preamble.js";
import { csvOutput } from "./csv-output.js";
import { type CsvRecord, readRecords } from "./csv-records.js";
import { cutOff } from "../../../core/wording/printable.js";
import { findHeader } from "./find-header.js";

/** Comma-separated values (RFC 4180); also semicolons or tabs if the input uses them. */
export const csv = delimited(",", ["csv"], ({ guessed }) =>
  guessed ? [",", "\t", ";", "|"] : [",", ";", "|"],
);

export const tsv = delimited("\t", ["tsv", "tab"], () => ["\t"]);

type Delimiters = readonly [Delimiter, ...Delimiter[]];

/**
 * A format of cells with CSV quoting.
 * @param candidates possible delimiters of an input; the first is the default
 */
function delimited(
  delimiter: Delimiter,
  extensions: readonly string[],
  candidates: (options: ReadOptions) => Delimiters,
): ReadableFormat & WritableFormat {
  return {
    extensions,
    read: (reading, options) =>
      read(
        reading,
        options,
        options.delimiter === undefined ? candidates(options) : [options.delimiter],
      ),
    ...csvOutput(delimiter),
  };
}

const layoutOfCells = { format: "csv", delimiter: ",", comment: null, spaced: false } as const;

/** Reads the copy of a table: an array of values a line. The first line has the names. */
export async function readCells(reading: Reading, options: ReadOptions): Promise<FormatReading> {
  const { bytes, settled } = reading;
  const records = new Sample(cellRecords(bytes));
  let found = settled;
  if (found === null) {
    const flags = { ...options, header: true };
    const { columns, ...layout } = await findLayout(bytes.name, records, () => null, flags);
    found = { columns, reading: { ...layoutOfCells, ...layout } };
  }
  return rowsOf(reading, found.columns, found.reading, records.all(1));
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

async function read(
  reading: Reading,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<FormatReading> {
  const { settled } = reading;
  if (settled === null) return detect(reading, options, candidates);
  const { delimiter, comment, spaced, skippedLines } = settled.reading;
  const dialect = { delimiter: delimiter ?? ",", comment, spaced, lineEnd: reading.bytes.lineEnd };
  const records = new Sample(readRecords(reading.bytes, dialect, skippedLines));
  const header = recordsOfHeader(settled.reading);
  return rowsOf(reading, settled.columns, settled.reading, records.all(header));
}

/** The rows of records: one for each item column. */
function rowsOf(
  { warnings }: Pick<Reading, "warnings">,
  columns: readonly string[],
  reading: InputReading,
  records: AsyncGenerator<readonly CsvRecord[]>,
): FormatReading {
  const { items, kind } = reading;
  if (reading.mayBeRow === true) {
    const line = cutOff(columns.join(", "), 120);
    warnings.push(`the header may be a row: ${line}; --no-header reads it as one`);
  }
  for (const item of items) warnOfDuplicateName(columns, item, warnings);
  if (kind !== null) warnOfDuplicateName(columns, kind, warnings);
  const rowOf = rowMaker(columns.length, reading);
  const [only, ...others] = items;
  const rows =
    others.length === 0
      ? mapLists(records, (record) => rowOf(record, only))
      : flatMapLists(records, (record) => items.map((item) => rowOf(record, item)));
  return { columns, reading, rows };
}

async function detect(
  reading: Reading,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<FormatReading> {
  const { bytes } = reading;
  const { lineEnd } = bytes;
  const { head, chunks } = await peek(bytes.chunks, isHeadComplete);
  const mark = options.comment ?? (options.guessed ? "#" : null);
  const start = headLines(head, { lineEnd, comment: mark });
  const { comments } = start;
  const comment = options.comment ?? (comments.length > 0 ? mark : null);
  const table = findPreamble(start, candidates, options);
  const { content, skippedLines, rule } = table;
  const delimiter = table.delimiter ?? candidates[0];
  const spaced = isSpaced(content, delimiter);
  const dialect = { delimiter, comment, spaced, lineEnd };
  const sample = new Sample(readRecords({ ...bytes, chunks }, dialect, skippedLines));
  const named = (width: number): CommentNames | null => namesIn(comments, delimiter, width);
  const { columns, ...layout } = await findLayout(bytes.name, sample, named, options);
  const naming = layout.header === "comment" ? named(columns.length)?.comment : undefined;
  const told = comments.filter((line) => line !== naming);
  const hasRule = rule !== null && layout.header === "record";
  const lines = (skippedLines || told.length) + (hasRule ? 1 : 0);
  const found: InputReading = {
    format: options.format,
    delimiter,
    comment,
    spaced,
    ...(skippedLines > 0 && { skippedLines }),
    ...(hasRule && { hasRule }),
    ...skippedIn([...told, ...table.skipped], lines),
    ...layout,
  };
  return rowsOf(reading, columns, found, sample.all(recordsOfHeader(found)));
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
): (record: CsvRecord, item: ItemColumn) => Row {
  let number = 0;
  return ({ cells, nulls, size }, item) => {
    number += 1;
    const extra = cells.length > width ? surplus(cells.slice(width)) : null;
    const own = cells.length > width ? cells.slice(0, width) : cells;
    while (own.length < width) own.push("");
    const kindText = kind === null ? "" : (own[kind.index] ?? "");
    const row: Row = {
      number,
      cells: own,
      ...(nulls !== undefined && { nulls }),
      extra,
      json: null,
      itemText: own[item.index] ?? "",
      kindText: kind?.by === "neighbour" ? recognisedKind(kindText) : kindText,
      fault: null,
      size: item === items[0] ? size : 0,
    };
    return items.length === 1 ? row : { ...row, column: columnName(item) };
  };
}

/** The surplus cells that aren't empty, in order, as a JSON array; null if there are none. */
function surplus(cells: readonly string[]): string | null {
  const filled = cells.filter((cell) => cell !== "");
  return filled.length === 0 ? null : JSON.stringify(filled);
}

type LayoutOptions = ColumnFlags & Pick<ReadOptions, "header">;

/**
 * Finds the layout from flags and the first records, reading no more than needed.
 * @param named names of that many columns from comments; null for none
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
async function findLayout(
  input: string,
  records: Sample<CsvRecord>,
  named: (width: number) => CommentNames | null,
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
  named: (width: number) => CommentNames | null,
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
