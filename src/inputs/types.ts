import type { Readable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import type { Row } from "../core/row.js";
import type { InputReading, ReadOptions } from "../formats/types.js";
import type { InputBytes } from "./open-input.js";

/** Where a resumed run goes on. */
export interface SourcePosition {
  /** Bytes of decompressed input, rows and lines before it. */
  readonly offset: number;
  readonly row: number;
  readonly line: number;
  /** The columns as found when the run began. */
  readonly columns: readonly string[];
  /** Checksum of the bytes as stored that were read by then: those ahead of `offset` too. */
  readonly input?: ChecksumState;
  /** How the input is read, as settled when the run began. */
  readonly reading: InputReading;
}

export interface SourceOptions extends ReadOptions {
  readonly gzip: boolean;
  readonly resume: SourcePosition | null;
  /** Tells when a stream pauses, which ends the sample. @default the machine's own clock */
  readonly clock?: Clock;
}

/**
 * A part of a plain file, cut between two rows, and the header that it lacks. Offsets are counted
 * from `start`; rows and lines are those of the whole file.
 */
export interface InputRange {
  readonly start: number;
  /** Just behind the last byte. */
  readonly end: number;
  /** Rows and lines before `start`. */
  readonly row: number;
  readonly line: number;
  readonly columns: readonly string[];
  readonly reading: InputReading;
}

/** A file by path (seekable), a part of one, or a stream (stdin). */
export type SourceInput =
  | { readonly path: string; readonly range?: InputRange }
  | { readonly stream: Readable; readonly name: string };

/** An input as a source is opened from; a stream that was looked into is open already. */
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
