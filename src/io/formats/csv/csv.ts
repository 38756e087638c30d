import type { Row } from "../../../core/row.js";
import { recognisedKind } from "../columns/choose-column.js";
import { columnName, warnOfDuplicateName } from "../columns/name-columns.js";
import { headLines, peek, Sample, isHeadComplete } from "../reading/sample.js";
import { flatMapLists, type LineEnd, mapLists, type TextBytes } from "../reading/lines.js";
import type {
  FormatReading,
  InputReading,
  ItemColumn,
  ReadableFormat,
  Reading,
  ReadOptions,
  WritableFormat,
} from "../types.js";
import { findLayout } from "./csv-layout.js";
import { findPreamble } from "./find-preamble.js";
import { type CommentNames, namesIn } from "./header-lines.js";
import { csvOutput } from "./csv-writer.js";
import { type CsvRecord, readRecords } from "./csv-records.js";
import type { Delimiter } from "../reading/scan-cells.js";
import { textOfLines } from "./skipped-lines.js";

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
  const { before, warnings } = reading;
  const found =
    reading.settled === null
      ? await settle(reading, options, candidates)
      : { ...reading.settled, records: readSettled(reading, reading.settled.reading) };
  const { columns, records } = found;
  const { items, kind } = found.reading;
  for (const item of items) warnOfDuplicateName(columns, item, warnings);
  if (kind !== null) warnOfDuplicateName(columns, kind, warnings);
  const rowsOf = rowMaker(columns.length, found.reading, before?.row ?? 0);
  const [only, ...others] = items;
  const rows =
    others.length === 0
      ? mapLists(records, (record) => rowsOf(record, only))
      : flatMapLists(records, (record) => items.map((item) => rowsOf(record, item)));
  return { columns, reading: found.reading, rows };
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
    if (left === 0)
      return { ...text, start, chunks: continued(chunk.subarray(cut.end), text.chunks) };
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

async function* continued(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
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
  return ({ cells, line, endLine, end }, item) => {
    number += 1;
    const extra = cells.length > width ? surplus(cells.slice(width)) : null;
    const own = cells.length > width ? cells.slice(0, width) : cells;
    while (own.length < width) own.push("");
    const kindText = kind === null ? "" : (own[kind.index] ?? "");
    const row: Row = {
      number,
      line,
      cells: own,
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
