import type { Finding } from "./finding.js";

/**
 * Why another attempt may help.
 *
 * - `partial`: part of the data was unavailable; uses up one of `--partial-retries`.
 * - `transient`: reset, timeout, 408, 425, 5xx, truncated body; back off, then retry.
 * - `throttled`: 429, or 503 without the envelope; the whole run slows down, then retries.
 * - `once`: 200 without the envelope, or for another item; retry a single time.
 */
export interface Again {
  readonly policy: "partial" | "transient" | "throttled" | "once";
  /** Milliseconds the service asks to wait (`Retry-After`), or null. */
  readonly afterMs: number | null;
}

/** Longest wait in milliseconds. A service that asks for more has a quota, which ends the run. */
export const longestWaitMs = 15 * 60_000;

/** Whether an attempt was refused because a quota of the service is used up. */
export function isOverQuota({ again }: Pick<Attempt, "again">): boolean {
  return (again?.afterMs ?? 0) > longestWaitMs;
}

export interface Attempt {
  /** The finding if this were the last attempt. */
  readonly finding: Finding;
  /** HTTP status, or the error code if no complete answer arrived. */
  readonly outcome: string;
  readonly again: Again | null;
  /** Values that the interface doesn't list, as `member=value`. */
  readonly drift: readonly string[];
  /**
   * The body as received, if it is a full answer. A journal stores it as is instead of serialising the
   * data again.
   */
  readonly body?: Buffer | undefined;
}

/** What a journal stores of a lookup, or of one attempt that another follows. */
export interface LookupRecord extends Pick<Attempt, "finding" | "again" | "drift" | "body"> {
  /** Absent for an answer that no row of this run asked for. */
  readonly origin?: RecordOrigin | undefined;
}

/** Where a record came from, so that a resumed run counts it as the first run did. */
interface RecordOrigin {
  /** Number of the row that asked first; null if no row did. */
  readonly row: number | null;
  /** HTTP status or error code of each request that isn't in an earlier record of the same lookup. */
  readonly outcomes: readonly string[];
}
