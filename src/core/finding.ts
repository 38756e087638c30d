/** What a row came to (behaviour: Rows, 2). */
export const findingStatuses = ["complete", "partial", "invalid", "unsupported", "failed"] as const;

export type FindingStatus = (typeof findingStatuses)[number];

/** Where an answer came from: the service, a cache, an earlier row of this run, or repute itself. */
export type FindingSource = "live" | "cache" | "duplicate" | "local";

/** The endpoints that answer for an item. */
export const lookupEndpoints = ["query", "quick-check"] as const;

export type LookupEndpoint = (typeof lookupEndpoints)[number];

/** A JSON object as the service sent it; unknown members are kept. */
export type JsonObject = { readonly [member: string]: unknown };

/** Why there is no full answer. */
export interface FindingError {
  /** Stable: `http_404`, `timeout`, `connection_reset`, `response_schema`, `invalid_item` … */
  readonly code: string;
  /** For a person; for `invalid` the message of the service's `errors.$`. */
  readonly message: string;
}

/**
 * What another attempt could change. Present only on what one attempt came to, when asking again
 * is worth while; the retry wrapper acts on it and takes it away.
 *
 * - `partial`: part of the data was unavailable; spend a partial re-ask.
 * - `transient`: reset, timeout, 408, 425, 5xx, truncated body; back off and ask again.
 * - `throttled`: 429, or 503 without the envelope; the whole run slows down, then ask again.
 * - `once`: 200 with something else than the envelope, or for another item; ask one single time again.
 */
export interface Again {
  readonly policy: "partial" | "transient" | "throttled" | "once";
  /** The service's own wish in milliseconds from now (`Retry-After`), or null. */
  readonly afterMs: number | null;
}

/**
 * What looking up an item came to. Failure is data: a lookup resolves to a finding, whatever the
 * service did, and rejects only when the run itself cannot go on.
 */
export interface Finding {
  readonly status: FindingStatus;
  /** Result of `/query` as received, or null when not asked or not answered. */
  readonly query: JsonObject | null;
  /** Result of `/quick-check` as received, or null when not asked or not answered. */
  readonly quickCheck: JsonObject | null;
  /** Members that are null in a partial answer, in the order of the interface. */
  readonly missing: readonly string[];
  readonly source: FindingSource;
  /** HTTP status of the answer that decided, or null when there was none. */
  readonly httpStatus: number | null;
  /** Requests that it took to get this, whoever paid for them (a duplicate tells the first one's). */
  readonly attempts: number;
  /** When the answer came, RFC 3339 UTC, or null when nothing was asked. */
  readonly lookedUpAt: string | null;
  readonly error: FindingError | null;
  /**
   * `query` as the service wrote it: JSON text, byte for byte except that line breaks between its
   * tokens are removed, so that it fits on a line of NDJSON. Only where a run or a cache keeps it.
   */
  readonly queryText?: string | undefined;
  /** `quickCheck` as the service wrote it; as `queryText`. */
  readonly quickCheckText?: string | undefined;
  /** Bytes of the text that the data was read from, where it is longer than `largeAnswer`; else absent. */
  readonly bytes?: number | undefined;
  /**
   * The answer as it came, a full one whose envelope's `result` is the data: a store that has it need
   * not write the data as JSON again. Only on what an attempt came to, until it is kept.
   */
  readonly body?: Buffer;
  readonly again?: Again;
  /**
   * Milliseconds from sending to the end of the answer, where whoever sent the request measured them.
   * Only on what an attempt came to, until it is kept.
   */
  readonly tookMs?: number | undefined;
  /** The value of `attempts` with which the finding is kept, by the run or a cache; else absent. */
  readonly keptAt?: number;
  /** What became of an attempt without an HTTP status: a transport fault's code. */
  readonly outcome?: string;
  /** Values that the interface does not list, as `member=value`. */
  readonly drift?: readonly string[];
  /** Only on what a run's journal keeps. */
  readonly origin?: FindingOrigin;
}

/** Where a journalled finding came from, so that a resumed run counts it as the first one did. */
interface FindingOrigin {
  /** Number of the row that asked first; null where no row did. */
  readonly row: number | null;
  /** HTTP status or fault code of each request that is not in an earlier record of the same lookup. */
  readonly outcomes: readonly string[];
}

/** Answers longer than this count by their size where memory is bounded. Bytes. */
export const largeAnswer = 8 * 1024;
