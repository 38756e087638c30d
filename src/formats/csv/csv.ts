import type { Row } from "../../core/row.js";
import type { CsvDialect } from "./csv-dialect.js";
import { type CsvLayout, findLayout } from "./csv-layout.js";
import { type CsvRecord, readRecords } from "./csv-records.js";
import { CsvRowMaker } from "./csv-rows.js";
import { warnOfTwins } from "../find-column.js";
import { headLines, settlesHead } from "../head-lines.js";
import { type FormatReading, openSource, type Reading } from "../../inputs/open-source.js";
import { peek } from "../../inputs/peek.js";
import { ReadAhead } from "../../inputs/read-ahead.js";
import { sniffDelimiter } from "./sniff-delimiter.js";
import { splitLine } from "./split-line.js";
import type { Delimiter, InputReading, OpenFormat, SourceOptions } from "../../inputs/types.js";

/** Comma-separated values (RFC 4180 and what is found in its place: semicolons, tabs). */
export const openCsv: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => {
    return begin(reading, options.guessed ? [",", "\t", ";"] : [",", ";"], options);
  });

/** Tab-separated values, with the quoting of CSV as spreadsheets write it. */
export const openTsv: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, ["\t"], options));

async function begin(
  reading: Reading,
  delimiters: readonly [Delimiter, ...Delimiter[]],
  options: SourceOptions,
): Promise<FormatReading> {
  const { resume, warnings } = reading;
  const { columns, records, ...found } =
    reading.settled === null
      ? await settle(reading, delimiters, options)
      : goOn(reading, reading.settled);
  const { item, kind } = found.reading;
  warnOfTwins(columns, item, warnings);
  if (kind !== null) warnOfTwins(columns, kind, warnings);
  const toRows = new CsvRowMaker(columns, { item, kind }, resume?.row ?? 0);
  return { columns, reading: found.reading, rows: readRows(records, toRows) };
}

type RecordLists = AsyncGenerator<readonly CsvRecord[]>;

interface Settled {
  readonly columns: readonly string[];
  readonly reading: InputReading & Pick<CsvLayout, "item" | "kind">;
  /** The records that are rows. */
  readonly records: RecordLists;
}

/** Finds dialect and columns at the beginning of the input. */
async function settle(
  { bytes, pauses }: Reading,
  delimiters: readonly [Delimiter, ...Delimiter[]],
  options: SourceOptions,
): Promise<Settled> {
  const { lineEnd } = bytes;
  const { head, chunks } = await peek(bytes.chunks, settlesHead, pauses);
  const mark = options.comment ?? (options.guessed ? "#" : null);
  const { content, comments } = headLines(head, { lineEnd, comment: mark });
  const comment = options.comment ?? (comments.length > 0 ? mark : null);
  const delimiter = sniffDelimiter(content, delimiters) ?? delimiters[0];
  const spaced = isSpaced(content, delimiter);
  const dialect = { delimiter, comment, spaced, lineEnd };
  const records = new ReadAhead(readRecords({ ...bytes, chunks }, dialect, 0), pauses);
  const names = splitLine(comments.at(-1) ?? "", delimiter).map((name) => name.trim());
  const { columns, ...layout } = await findLayout(bytes.name, records, names, options);
  const { format } = options;
  return {
    columns,
    reading: { format, delimiter, comment, spaced, ...layout },
    records: records.all(layout.header === "record" ? 1 : 0),
  };
}

/** Reads as was settled when the run began. */
function goOn(
  { bytes, resume }: Reading,
  { columns, reading }: NonNullable<Reading["settled"]>,
): Settled {
  const { comment, spaced, delimiter } = reading;
  const dialect: CsvDialect = {
    delimiter: delimiter ?? ",",
    comment,
    spaced,
    lineEnd: bytes.lineEnd,
  };
  const records = readRecords(bytes, dialect, resume?.line ?? 0);
  const headerAhead = resume === null && reading.header === "record";
  return { columns, reading, records: headerAhead ? withoutFirst(records) : records };
}

async function* withoutFirst(lists: RecordLists): RecordLists {
  const first = await lists.next();
  if (first.done !== true) yield first.value.slice(1);
  yield* lists;
}

/** Whether quoted cells have a space before them: `"192.0.2.1", "ssh, twice"`. */
function isSpaced(lines: readonly string[], delimiter: Delimiter): boolean {
  if (delimiter === "\t") return false;
  const pattern = delimiter === "," ? /^"(?:[^"]|"")*", +"/ : /^"(?:[^"]|"")*"; +"/;
  return lines.filter((line) => pattern.test(line)).length * 2 >= Math.max(1, lines.length);
}

async function* readRows(lists: RecordLists, toRows: CsvRowMaker): AsyncGenerator<readonly Row[]> {
  for await (const records of lists) yield toRows.make(records);
}
