import type { Readable } from "node:stream";
import type { Row } from "../core/row.js";
import type { ChecksumState } from "../core/running-checksum.js";

export const sourceFormats = ["csv", "tsv", "ndjson", "text"] as const;

export type SourceFormat = (typeof sourceFormats)[number];

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
}

export interface SourceOptions {
  readonly format: SourceFormat;
  readonly gzip: boolean;
  /** False: CSV and TSV columns are `column_1` … and the first line is a row. */
  readonly header: boolean;
  /** Lines that start with this text are skipped; null for none. */
  readonly comment: string | null;
  /** Name of the item column (NDJSON: dotted path); null looks for the customary names. */
  readonly itemColumn: string | null;
  readonly kindColumn: string | null;
  readonly resume: SourcePosition | null;
}

/** The bytes of an input: a file by path (seekable), or a stream (stdin). */
export type SourceInput =
  | { readonly path: string }
  | { readonly stream: Readable; readonly name: string };

/** An input that was opened, its header read and its item column found. */
export interface OpenedSource {
  /** Input columns in input order, as they stand in the input (stray spaces included). */
  readonly columns: readonly string[];
  /** The name of the column (or path) that holds the item. */
  readonly itemColumn: string;
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
export type OpenFormat = (input: SourceInput, options: SourceOptions) => Promise<OpenedSource>;
