import type { Clock } from "../core/clock.js";
import type { EnrichedRow } from "../core/row.js";
import type { ChecksumState } from "../core/files/running-checksum.js";

export const sinkFormats = ["csv", "tsv", "ndjson", "ecs", "ocsf", "stix"] as const;

export type SinkFormat = (typeof sinkFormats)[number];

/** How far an output is written and durable; plain JSON, kept in the run's checkpoint. */
export interface SinkPosition {
  /** Bytes (of a file) or rows (of a table) that are durable. */
  readonly length: number;
  /** Rows within that length. */
  readonly rows: number;
  /** Of a file: checksum of that length, which a resumed run verifies. */
  readonly checksum?: ChecksumState;
  /** Indicators within that length, in formats that write those instead of rows (STIX). */
  readonly indicators?: number;
  /** The same of the file of rejected rows, where there is one. */
  readonly rejects?: SinkPosition;
}

/** What an output came to. */
export interface SinkResult {
  /** Final path, without the suffix given to `finish`; null for stdout. */
  readonly path: string | null;
  readonly bytes: number;
  readonly rows: number;
  /** Indicators that became of the rows, in formats that write those instead (STIX). */
  readonly indicators?: number;
}

/** Takes enriched rows to where they are kept. */
export interface Sink {
  /** Takes the rows, in this order. Resolves when it is ready for more: that is the back-pressure. */
  write(rows: readonly EnrichedRow[]): Promise<void>;
  /**
   * Makes everything taken so far durable and says how far that is.
   *
   * @param note the run's checkpoint as text. An output that is a database keeps it in the same
   * transaction as the rows, so that neither is ever there without the other; others ignore it.
   */
  checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition>;
  /** True when so much waits in memory for a checkpoint that one should be made now. */
  readonly full?: boolean;
  /**
   * Writes what the output ends with, so that it can be read as a whole before it is finished.
   * Positions stay those before that end: a run that is resumed there writes it again.
   */
  end?(): Promise<void>;
  /**
   * Completes the output and puts it under its final name.
   *
   * @param suffix appended to that name, and to the name of the rejected rows. A database keeps the
   * rows where they are, and the run's checkpoint with them: the run does not count as finished.
   * @default ""
   */
  finish(suffix?: string): Promise<SinkResult>;
  /** Lets go without completing: no file under the final name; what is durable stays for a resume. */
  abandon(): Promise<void>;
}

/** What a text format needs to know of the run. */
export interface EncoderOptions {
  /** The input's columns as they stand in the input. */
  readonly columns: readonly string[];
  /** What the added columns' names begin with, e.g. `rep_`. */
  readonly prefix: string;
  readonly shape: "flat" | "nested";
  /** Neutralise added cells that a spreadsheet would run (CSV and TSV). */
  readonly formulaGuard: boolean;
  /** Dates rows that have no time of their own, in formats that want one. Default: the system's. */
  readonly clock?: Clock;
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
  /**
   * Reads back one line of what a resumed output holds already, for formats in which a row depends
   * on those before it. Called for every line, in order, before anything is encoded.
   */
  reread?(line: string): void;
}

/** Takes bytes to a file or stream; knows nothing of rows. */
export interface Destination {
  /** Final path, or null for a stream. */
  readonly path: string | null;
  /** Bytes taken so far, those of a resumed run included. */
  readonly length: number;
  /** Checksum of those bytes; null for a stream, which is never read back. */
  checksum(): ChecksumState | null;
  write(bytes: Uint8Array): Promise<void>;
  /** Makes what was written durable (fsync); nothing to do for a stream. */
  sync(): Promise<void>;
  /** Completes: durable, and under the final name with `suffix` (default none) appended. */
  finish(suffix?: string): Promise<void>;
  /** Lets go; what was written stays where it is, not under the final name. */
  abandon(): Promise<void>;
}
