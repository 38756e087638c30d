import type { Clock } from "../core/clock.js";
import type { FindingStatus, Verdict } from "../core/finding.js";
import type { EnrichedRow, Row } from "../core/row.js";
import type { LineEnd, Pauses } from "./reading/sample.js";
import type { Warnings } from "./reading/lines.js";
import type { RecordSplitter } from "./record-splitter.js";
import type { SourceFormat } from "./registry.js";

export type { SinkFormat, SourceFormat } from "./registry.js";

/** A text format that can be read: one file, and one line in `registry.ts`. */
export interface ReadableFormat {
  /** Endings of file names that say this format; none where its first lines must. */
  readonly extensions: readonly string[];
  /** Finds the columns and reads the rows behind them. */
  read(reading: Reading, options: ReadOptions): Promise<FormatReading>;
  /** Writes rejected rows in the form they came in, with two more columns that say why. */
  rejects(options: RejectsOptions): Encoder;
}

/** A text format that can be written: one file, and one line in `registry.ts`. */
export interface WritableFormat {
  readonly extensions: readonly string[];
  /** @throws UsageError `column_clash` */
  write(options: EncoderOptions): Encoder;
  /** Cuts an output into its records, the header among them. */
  split(): RecordSplitter;
  /** Counts the records of an output, the header among them. */
  count(options: CountOptions): RecordCounter;
  /** Whether the rows have the results as received. */
  keepsReceived(shape: Shape): boolean;
  /** Reads the rows of an output again; absent where they cannot be filled in place. */
  readonly earlier?: EarlierFormat;
}

/** The character that separates the cells of a CSV or TSV input. */
export type Delimiter = string;

/** NDJSON output: the columns as members, or one member with everything as received. */
type Shape = "flat" | "nested";

/** How an input is read: as its flags say, else as found in its first records. */
export interface InputReading {
  readonly format: SourceFormat;
  /** Null for formats without columns of cells. */
  readonly delimiter: Delimiter | null;
  /** Lines that start with this text are skipped; null for none. */
  readonly comment: string | null;
  /** Spaces before a cell do not count, so that `"a", "b"` has two quoted cells. */
  readonly spaced: boolean;
  /** What names the columns: the first record, a comment line before it, or nothing. */
  readonly header: "record" | "comment" | "none";
  readonly item: ItemColumn;
  readonly kind: KindColumn | null;
}

/** A column by its name, and its place where names do not tell columns apart (CSV and TSV). */
export interface ColumnPlace {
  /** For NDJSON a dotted path. */
  readonly name: string;
  readonly index: number;
}

/** The column that holds the item, and how it was chosen. */
export interface ItemColumn extends ColumnPlace {
  /** A flag, a usual name, the largest share of indicators, or a format that has one column only. */
  readonly by: "flag" | "name" | "share" | "format";
  /** What the sample said; null where none was needed. */
  readonly sample: ColumnSample | null;
}

export interface ColumnSample {
  /** Sampled cells that are not empty, and how many of them are indicators. */
  readonly cells: number;
  readonly indicators: number;
  /** Fraction of the cells that are indicators, from 0 to 1; file names and paths count less. */
  readonly share: number;
}

/** The column that names the item's kind. */
export interface KindColumn extends ColumnPlace {
  readonly by: "flag" | "neighbour";
}

/** What the user said about an input. */
export interface ReadOptions {
  readonly format: SourceFormat;
  /** True: the first record names the columns. False: it is a row. Null: detected. */
  readonly header: boolean | null;
  /** No flag says the format: CSV may have tabs then, and comments where it begins with `#`. */
  readonly guessed: boolean;
  /** Lines that start with this text are skipped; null for none. */
  readonly comment: string | null;
  /** Name of the item column (NDJSON: dotted path); null detects it. */
  readonly itemColumn: string | null;
  /** Name of the kind column; null takes a neighbour of the item column that names kinds. */
  readonly kindColumn: string | null;
}

/** The bytes of an input: decompressed, in UTF-8, without byte order mark. */
export interface TextBytes {
  /** What to call the input in messages. */
  readonly name: string;
  readonly chunks: AsyncGenerator<Buffer>;
  /** Offset of the first byte of `chunks` in decompressed bytes; a byte order mark counts. */
  readonly start: number;
  readonly lineEnd: LineEnd;
}

export interface Reading {
  readonly bytes: TextBytes;
  /** Rows and lines before the bytes; null at the beginning of the input, before its header. */
  readonly before: { readonly row: number; readonly line: number } | null;
  /** Columns and reading where they are known already; null where they are to be found. */
  readonly settled: { readonly columns: readonly string[]; readonly reading: InputReading } | null;
  readonly warnings: Warnings;
  /** Null for a file, which can be sampled without waiting. */
  readonly pauses: Pauses | null;
}

export interface FormatReading {
  readonly columns: readonly string[];
  readonly reading: InputReading;
  /** Rows as they come, in lists of any length. */
  readonly rows: AsyncIterable<readonly Row[]>;
}

export interface EncoderOptions {
  /** The input's columns as they stand in the input. */
  readonly columns: readonly string[];
  /** What the added columns' names begin with, e.g. `rep_`. */
  readonly prefix: string;
  readonly shape: Shape;
  /** Neutralise added cells that a spreadsheet would run (CSV and TSV). */
  readonly formulaGuard: boolean;
  /** Dates rows that have no time of their own, in formats that want one. Default: the system's. */
  readonly clock?: Clock;
}

export interface RejectsOptions extends Pick<EncoderOptions, "columns" | "formulaGuard"> {
  /** How the input was read: rejected rows keep its format, delimiter and header. */
  readonly reading: Pick<InputReading, "format" | "delimiter" | "header">;
}

/** Turns rows into the text of one format. */
export interface Encoder {
  /** What the output begins with; "" for formats without a header. */
  readonly header: string;
  /** The rows' text, in most formats a line each. */
  encode(rows: readonly EnrichedRow[]): string;
  /** What the output ends with, behind the last row; none by default. */
  readonly footer?: string;
  /** Indicators written so far, those read back included; undefined where rows are written. */
  readonly indicators?: number;
  /** Reads back a line of a resumed output, in formats in which a row depends on those before it. */
  reread?(line: string): void;
}

export interface CountOptions extends Pick<EncoderOptions, "prefix" | "shape"> {
  /** Number of input columns, which come first (CSV and TSV). */
  readonly inputColumns: number;
  /** False for an output of schema version 1. */
  readonly hasVerdicts: boolean;
}

export interface Counted {
  /** Null where the rows are not in it one by one: a STIX bundle. */
  readonly rows: number | null;
  readonly statuses: Readonly<Record<FindingStatus, number>> | null;
  /** Null also for an output of schema version 1. */
  readonly verdicts: Readonly<Record<Verdict, number>> | null;
  /** Of a STIX bundle. */
  readonly indicators?: number;
}

/** Takes an output record by record and tells what is in it. */
export interface RecordCounter {
  /** @throws FatalError `output_corrupt` when it is none of ours */
  add(record: Buffer): void;
  /** @throws FatalError `output_corrupt` when more is to come */
  counted(): Counted;
}

export interface EarlierFormat {
  /** Null for formats without columns of cells. */
  readonly delimiter: Delimiter | null;
  /** True where the first record is a header. */
  readonly header: boolean;
  /** @returns the layout that the first record shows; null when it is none of ours */
  layout(first: string, prefix: string): EarlierLayout | null;
}

/** How the rows of an earlier output stand in it. */
export interface EarlierLayout {
  readonly inputColumns: readonly string[];
  readonly shape: Shape;
  /** 1 where the rows have no verdict. */
  readonly schemaVersion: number;
  /** @returns null for what is no record of ours */
  read(record: string): EarlierRecord | null;
}

/** A record of an earlier output, taken apart. */
export interface EarlierRecord {
  /** What an added column says; "" for none. */
  text(column: string): string;
  list(column: string): readonly string[];
  /** Cells of the input's columns (tables). */
  readonly cells: readonly string[];
  /** The input's members as an object's text (NDJSON), or null. */
  readonly json: string | null;
  /** What the columns had no place for, as JSON text, or null. */
  readonly extra: string | null;
}
