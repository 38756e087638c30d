import type { Row } from "../../../core/row.js";
import { recognisedKind, type ColumnFlags, findColumns } from "../columns/find-columns.js";
import {
  columnName,
  warnOfDuplicateName,
  matchColumn,
  minShare,
  positionalName,
  unknownColumn,
} from "../columns/name-columns.js";
import { headLines, peek, Sample, isHeadComplete, type Delimiter } from "../reading/sample.js";
import {
  continued,
  flatMapLists,
  type LineEnd,
  mapLists,
  type TextBytes,
  limits,
} from "../reading/lines.js";
import type {
  FormatReading,
  InputReading,
  ItemColumn,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
} from "../types.js";
import {
  findPreamble,
  type CommentNames,
  namesIn,
  isRuleRecord,
  textOfLines,
} from "./find-preamble.js";
import { csvOutput, type CsvRecord, readRecords } from "./csv-records.js";
import { indicatorWeight } from "../../../core/item/recognise.js";
import { customaryItemColumns, columnShare } from "../columns/rate-columns.js";

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

async function read(
  reading: Reading,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<FormatReading> {
  const found =
    reading.settled === null
      ? await settle(reading, options, candidates)
      : { ...reading.settled, records: readSettled(reading, reading.settled.reading) };
  return rowsOf(reading, found.columns, found.reading, found.records);
}

/** The rows of records: one for each item column. */
export function rowsOf(
  { before, warnings }: Pick<Reading, "before" | "warnings">,
  columns: readonly string[],
  reading: InputReading,
  records: RecordLists,
): FormatReading {
  const { items, kind } = reading;
  for (const item of items) warnOfDuplicateName(columns, item, warnings);
  if (kind !== null) warnOfDuplicateName(columns, kind, warnings);
  const rowOf = rowMaker(columns.length, reading, before?.row ?? 0);
  const [only, ...others] = items;
  const rows =
    others.length === 0
      ? mapLists(records, (record) => rowOf(record, only))
      : flatMapLists(records, (record) => items.map((item) => rowOf(record, item)));
  return { columns, reading, rows };
}

type RecordLists = AsyncGenerator<readonly CsvRecord[]>;

async function settle(
  { bytes, pauses }: Reading,
  options: ReadOptions,
  candidates: Delimiters,
): Promise<Pick<FormatReading, "columns" | "reading"> & { readonly records: RecordLists }> {
  const { lineEnd } = bytes;
  const { head, chunks } = await peek(bytes.chunks, isHeadComplete, pauses);
  const mark = options.comment ?? (options.guessed ? "#" : null);
  const lines = headLines(head, { lineEnd, comment: mark });
  const { comments } = lines;
  const comment = options.comment ?? (comments.length > 0 ? mark : null);
  const table = findPreamble(lines, candidates, options);
  const { content, skippedLines, rule } = table;
  const delimiter = table.delimiter ?? candidates[0];
  const spaced = isSpaced(content, delimiter);
  const dialect = { delimiter, comment, spaced, lineEnd };
  const text = await withoutLines({ ...bytes, chunks }, skippedLines);
  const sample = new Sample(readRecords(text, dialect, skippedLines), pauses);
  const named = (width: number): CommentNames | null => namesIn(comments, delimiter, width);
  const { columns, ...layout } = await findLayout(bytes.name, sample, named, options);
  const naming = layout.header === "comment" ? named(columns.length)?.comment : undefined;
  const told = comments.filter((line) => line !== naming);
  const skippedText = textOfLines([...told, ...table.skipped]);
  const reading: InputReading = {
    format: options.format,
    delimiter,
    comment,
    spaced,
    ...(skippedLines > 0 && { skippedLines }),
    ...(skippedLines === 0 && told.length > 0 && { commentLines: told.length }),
    ...(rule !== null && layout.header === "record" && { rule }),
    ...(skippedText !== "" && { skippedText }),
    ...layout,
  };
  return { columns, reading, records: sample.all(recordsOfHeader(reading)) };
}

/** How many records are no rows: the header, and the rule below it. */
function recordsOfHeader({ header, rule }: InputReading): number {
  return header === "record" ? (rule === undefined ? 1 : 2) : 0;
}

async function* readSettled({ bytes, before }: Reading, reading: InputReading): RecordLists {
  const { comment, spaced, skippedLines = 0 } = reading;
  const dialect = { delimiter: reading.delimiter ?? ",", comment, spaced, lineEnd: bytes.lineEnd };
  const text = before === null ? await withoutLines(bytes, skippedLines) : bytes;
  const lists = readRecords(text, dialect, before?.line ?? skippedLines);
  let left = before === null ? recordsOfHeader(reading) : 0;
  for await (const list of lists) {
    yield list.slice(left);
    left = Math.max(0, left - list.length);
  }
}

async function withoutLines(text: TextBytes, lines: number): Promise<TextBytes> {
  let left = lines;
  let { start } = text;
  while (left > 0) {
    const { value: chunk, done } = await text.chunks.next();
    if (done === true) break;
    const cut = endOfLines(chunk, left, text.lineEnd);
    left -= cut.lines;
    start += cut.end;
    if (left > 0) continue;
    return { ...text, start, chunks: continued({ value: chunk.subarray(cut.end) }, text.chunks) };
  }
  return { ...text, start };
}

function endOfLines(
  chunk: Buffer,
  most: number,
  lineEnd: LineEnd,
): { readonly lines: number; readonly end: number } {
  const byte = lineEnd === "cr" ? "\r" : "\n";
  let end = 0;
  for (let lines = 0; lines < most; lines++) {
    const next = chunk.indexOf(byte, end);
    if (next === -1) return { lines, end: chunk.length };
    end = next + 1;
  }
  return { lines: most, end };
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
  rowsBefore: number,
): (record: CsvRecord, item: ItemColumn) => Row {
  let number = rowsBefore;
  const last = items.at(-1);
  return ({ cells, nulls, line, endLine, end }, item) => {
    number += 1;
    const extra = cells.length > width ? surplus(cells.slice(width)) : null;
    const own = cells.length > width ? cells.slice(0, width) : cells;
    while (own.length < width) own.push("");
    const kindText = kind === null ? "" : (own[kind.index] ?? "");
    const row: Row = {
      number,
      line,
      cells: own,
      ...(nulls !== undefined && { nulls }),
      extra,
      json: null,
      itemText: own[item.index] ?? "",
      kindText: kind?.by === "neighbour" ? recognisedKind(kindText) : kindText,
      fault: null,
      end,
      endLine,
    };
    if (items.length === 1) return row;
    return { ...row, column: columnName(item), continues: item !== last };
  };
}

/** The surplus cells that aren't empty, in order, as a JSON array; null if there are none. */
function surplus(cells: readonly string[]): string | null {
  const filled = cells.filter((cell) => cell !== "");
  return filled.length === 0 ? null : JSON.stringify(filled);
}

interface CsvLayout extends Pick<InputReading, "header" | "items" | "kind" | "others" | "ofFiles"> {
  readonly columns: readonly string[];
}

type LayoutOptions = ColumnFlags & Pick<ReadOptions, "header">;

/**
 * Finds the layout from flags and the first records, reading no more than needed.
 * @param named names of that many columns from comments; null for none
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findLayout(
  input: string,
  records: Sample<CsvRecord>,
  named: (width: number) => CommentNames | null,
  options: LayoutOptions,
): Promise<CsvLayout> {
  await records.until(() => records.read.length > 0);
  if (records.read.length === 0) return emptyLayout(options.itemColumn);
  let sampled: number = limits.sampleRecords;
  const draft = (): Draft => draftOf(records.read, named, { ...options, sampled });
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
      placeOf: ({ index }) => index,
      named(flag) {
        const { names } = draft();
        const column = matchColumn(names, flag.wanted);
        if (column === null) throw unknownColumn(input, names, flag);
        return column;
      },
      async sample(count, clear) {
        sampled = count;
        await records.until(
          () => isEnough(records.read, count),
          () => draft().rows.length > 0 && clear(),
        );
        return records.read.length > count;
      },
      withoutRecords() {
        const { names, rows } = draft();
        return rows.length === 0 ? anyColumn(names) : null;
      },
    },
    options,
  );
  const { names, header } = draft();
  return { columns: names, header, ...found };
}

/** Whether the sample is complete: `count` rows and a header, or fewer but very long ones. */
function isEnough(read: readonly CsvRecord[], count: number): boolean {
  const [first, last] = [read[0], read.at(-1)];
  if (first === undefined || last === undefined) return false;
  return read.length > count || last.end - first.end > limits.recordBytes;
}

function emptyLayout(itemColumn: ReadOptions["itemColumn"]): CsvLayout {
  const [first = positionalName(0), ...others] = [itemColumn ?? []].flat();
  const by = itemColumn === null ? "format" : "flag";
  const itemOf = (name: string): ItemColumn => ({ name, index: 0, by, sample: null });
  const items = [itemOf(first), ...others.map(itemOf)] as const;
  return { columns: [], header: "none", items, kind: null };
}

interface Draft {
  readonly header: InputReading["header"];
  readonly names: readonly string[];
  readonly rows: readonly CsvRecord[];
}

function draftOf(
  records: readonly CsvRecord[],
  named: (width: number) => CommentNames | null,
  options: LayoutOptions & { readonly sampled: number },
): Draft {
  const first = records[0]!.cells;
  const comment = named(first.length);
  const header = findHeader(records, comment, options);
  const below = records[1]?.cells ?? [];
  const begin = header === "record" ? (isRuleRecord(below) ? 2 : 1) : 0;
  const unnamed = (): readonly string[] => first.map((_, index) => positionalName(index));
  return {
    header,
    names:
      header === "record" ? first : header === "comment" && comment ? comment.names : unnamed(),
    rows: records.slice(begin, begin + options.sampled),
  };
}

/** A first record with an indicator is data. */
function findHeader(
  records: readonly CsvRecord[],
  comment: CommentNames | null,
  { header, itemColumn }: LayoutOptions,
): InputReading["header"] {
  if (header !== null) return header ? "record" : "none";
  const first = records[0]!.cells;
  const unnamed = comment === null ? "none" : "comment";
  const wanted = [itemColumn ?? []].flat();
  const hasAny = (names: readonly string[]): boolean =>
    wanted.some((name) => matchColumn(names, name) !== null);
  if (hasAny(first)) return "record";
  if (comment !== null && (comment.isDeclared || hasAny(comment.names))) return "comment";
  return isRow(records) ? unnamed : "record";
}

function isRow([first, ...others]: readonly CsvRecord[]): boolean {
  const rows = others.slice(0, limits.sampleRecords);
  return first!.cells.some((cell, index) => {
    if (indicatorWeight(cell) < 1 || fieldName.test(cell.trim())) return false;
    if (rows.length === 0 || !dottedName.test(cell.trim())) return true;
    const { share, kind } = columnShare(rows.map(({ cells }) => cells[index] ?? ""));
    return share >= minShare && kind === "domain";
  });
}

/** Field names of the Elastic Common Schema that end in a top-level domain. */
const fieldName =
  /^(?:source|destination|client|server|host|user|url|dns|email|file|observer|threat|indicator|network|agent|event|process|log|data_stream)(?:\.[a-z_]+)+$/;

/** A name of a field or of a host: only the cells below it decide. */
const dottedName =
  /^[a-z_]\w*(?:\.[a-z_]\w*)*\.(?:name|id|email|domains?|info|date|city|country|zip|host|link|page|post|network|group|report|security|software|systems|zone|in|is|to)$/i;

/** The item column of an input with a header and no rows: any column will do. */
function anyColumn(columns: readonly string[]): ItemColumn {
  const usual = customaryItemColumns
    .map((name) => matchColumn(columns, name))
    .find((column) => column !== null);
  const column = usual ?? { name: columns[0]!, index: 0 };
  return { ...column, by: "name", sample: null };
}
