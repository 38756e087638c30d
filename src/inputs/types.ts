import type { Readable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { Row } from "../core/row.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import type { InputBytes } from "./open-input.js";

export const sourceFormats = ["csv", "tsv", "ndjson", "text"] as const;

export type SourceFormat = (typeof sourceFormats)[number];

/** What separates the cells of a CSV or TSV input. */
export type Delimiter = "," | ";" | "\t";

/** How an input is read: as its flags say, else as found in its first records. */
export interface InputReading {
  readonly format: SourceFormat;
  /** Null for NDJSON and text. */
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
interface ColumnPlace {
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

/** How much of a sampled column are indicators. */
export interface ColumnSample {
  /** Sampled cells that are not empty. */
  readonly cells: number;
  /** Those of them that are indicators. */
  readonly indicators: number;
  /** Fraction of the cells that are indicators, from 0 to 1; file names and paths count less. */
  readonly share: number;
}

/** The column that names the item's kind. */
export interface KindColumn extends ColumnPlace {
  readonly by: "flag" | "neighbour";
}

/** Where reading goes on in a resumed run. */
export interface SourcePosition {
  /** Bytes of decompressed input that are done with (`Row.end` of the last row written). */
  readonly offset: number;
  /** Rows that are done with. */
  readonly row: number;
  /** Lines that are done with. */
  readonly line: number;
  /** The columns as found when the run began. */
  readonly columns: readonly string[];
  /** Checksum of the bytes as stored that were read by then: those ahead of `offset` too. */
  readonly input?: ChecksumState;
  /** How the input is read, as settled when the run began. */
  readonly reading: InputReading;
}

export interface SourceOptions {
  readonly format: SourceFormat;
  readonly gzip: boolean;
  /** True: the first record names the columns. False: it is a row. Null: found by itself. */
  readonly header: boolean | null;
  /**
   * False where a flag says the format. True where the input's name does, or its first lines: CSV
   * may have tabs then, and comments where it begins with `#`.
   */
  readonly guessed: boolean;
  /** Lines that start with this text are skipped; null for none. */
  readonly comment: string | null;
  /** Name of the item column (NDJSON: dotted path); null finds it by itself. */
  readonly itemColumn: string | null;
  /** Name of the kind column; null takes a neighbour of the item column that names kinds. */
  readonly kindColumn: string | null;
  readonly resume: SourcePosition | null;
  /** Tells when a stream pauses, which ends the sample. @default the machine's own clock */
  readonly clock?: Clock;
}

/** The bytes of an input: a file by path (seekable), or a stream (stdin). */
export type SourceInput =
  | { readonly path: string }
  | { readonly stream: Readable; readonly name: string };

/** An input as a format opens it; a stream that was looked into is open already. */
export type AnyInput = SourceInput | { readonly opened: InputBytes };

/** An input that was opened, its header read and its item column found. */
export interface OpenedSource {
  /** Input columns in input order, as they stand in the input (stray spaces included). */
  readonly columns: readonly string[];
  readonly reading: InputReading;
  /** Batches of rows in input order, never empty. Leaving the loop early closes the input. */
  readonly rows: AsyncIterable<readonly Row[]>;
  /** Size of the input as stored, in bytes; null for a stream. */
  readonly bytesTotal: number | null;
  /** Bytes read so far as stored (compressed, if it is); for progress. */
  bytesRead(): number;
  /** Checksum of those bytes, which a resumed run verifies. */
  checksum(): ChecksumState;
  /** Things a person should know, counted: message → how often. Filled while reading. */
  readonly warnings: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** One format: opens an input. One file per format; `registry.ts` names them. */
export type OpenFormat = (input: AnyInput, options: SourceOptions) => Promise<OpenedSource>;
