import type { EnrichedRow } from "../core/row.js";
import type { ChecksumState } from "../core/files/running-checksum.js";

/** How far an output is durable; plain JSON, kept in the run's checkpoint. */
export interface SinkPosition {
  /** Bytes (of a file) or rows (of a table) that are durable. */
  readonly length: number;
  /** Rows within that length. */
  readonly rows: number;
  /** Of a file: checksum of that length, which a resumed run verifies. */
  readonly checksum?: ChecksumState;
  /** Indicators within that length, in formats that write those instead of rows (STIX). */
  readonly indicators?: number;
  readonly rejects?: SinkPosition;
}

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
   * @param note the run's checkpoint as text, which a database keeps in the same transaction
   */
  checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition>;
  /** True when so much waits in memory for a checkpoint that one should be made now. */
  readonly full?: boolean;
  /** Writes what the output ends with; positions stay those before it, where a resume goes on. */
  end?(): Promise<void>;
  /**
   * Completes the output and puts it under its final name.
   *
   * @param suffix appended to that name, and to that of the rejected rows; a database keeps the
   * run's checkpoint then, so that it does not count as finished. Default: none
   */
  finish(suffix?: string): Promise<SinkResult>;
  /** Lets go without completing: no file under the final name; what is durable stays for a resume. */
  abandon(): Promise<void>;
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
