import type { Finding } from "./finding.js";

/**
 * What another attempt could change.
 *
 * - `partial`: part of the data was unavailable; spend a partial re-ask.
 * - `transient`: reset, timeout, 408, 425, 5xx, truncated body; back off and ask again.
 * - `throttled`: 429, or 503 without the envelope; the whole run slows down, then ask again.
 * - `once`: 200 with something else than the envelope, or for another item; ask one single time again.
 */
export interface Again {
  readonly policy: "partial" | "transient" | "throttled" | "once";
  /** The wait the service asks for (`Retry-After`), in milliseconds from now, or null. */
  readonly afterMs: number | null;
}

/** The outcome of one request for an item. */
export interface Attempt {
  /** What it says of the item. */
  readonly finding: Finding;
  /** HTTP status, or the code of the fault where no answer could be read to its end. */
  readonly outcome: string;
  /** Null when another attempt would change nothing. */
  readonly again: Again | null;
  /** Values that the interface does not list, as `member=value`. */
  readonly drift: readonly string[];
  /**
   * The answer as it came, where it is a full one whose envelope's `result` is the data: a journal
   * that has it need not write the data as JSON again.
   */
  readonly body?: Buffer | undefined;
}

/** What a journal keeps of a lookup, or of one attempt that is followed by another. */
export interface LookupRecord extends Pick<Attempt, "finding" | "again" | "drift" | "body"> {
  /** Absent for an answer that no row has taken yet. */
  readonly origin?: RecordOrigin | undefined;
}

/** Where a record came from, so that a resumed run counts it as the first one did. */
interface RecordOrigin {
  /** Number of the row that asked first; null where no row did. */
  readonly row: number | null;
  /** HTTP status or fault code of each request that is not in an earlier record of the same lookup. */
  readonly outcomes: readonly string[];
}
