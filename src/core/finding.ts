/** The outcome of a row (behaviour: Rows, 2). */
export const findingStatuses = ["complete", "partial", "invalid", "unsupported", "failed"] as const;

export type FindingStatus = (typeof findingStatuses)[number];

/** Where an answer came from: the service, a cache, an earlier row of this run, or repute itself. */
export type FindingSource = "live" | "cache" | "duplicate" | "local";

/** The endpoints that answer for an item. */
export const lookupEndpoints = ["query", "quick-check"] as const;

export type LookupEndpoint = (typeof lookupEndpoints)[number];

/** Name of an endpoint's member in JSON: `quick_check`. */
export function memberOf(endpoint: LookupEndpoint): string {
  return endpoint.replaceAll("-", "_");
}

/** A value for each endpoint. */
export function eachEndpoint<Value>(
  make: (endpoint: LookupEndpoint) => Value,
): Record<LookupEndpoint, Value> {
  const entries = lookupEndpoints.map((endpoint) => [endpoint, make(endpoint)]);
  return Object.fromEntries(entries) as Record<LookupEndpoint, Value>;
}

/** A JSON object as the service sent it; unknown members are kept. */
export type JsonObject = { readonly [member: string]: unknown };

/** Why there is no full answer. */
export interface FindingError {
  /** Stable: `http_404`, `timeout`, `connection_reset`, `response_schema`, `invalid_item` … */
  readonly code: string;
  /** For a person; for `invalid` the message of the service's `errors.$`. */
  readonly message: string;
}

/** What one endpoint says of an item. */
export interface LookupAnswer {
  /** The result as parsed; members that the interface does not name are kept. */
  readonly result: JsonObject;
  /**
   * `result` as the service wrote it: JSON text, byte for byte except that line breaks between its
   * tokens are removed, so that it fits on a line of NDJSON. Only where a run or a cache keeps it.
   */
  readonly text?: string | undefined;
  /** Bytes that `result` was read from, where they are more than `largeAnswer`; else absent. */
  readonly bytes?: number | undefined;
}

/** One slot per endpoint; absent when it was not asked or did not answer. */
export type Answers = { readonly [endpoint in LookupEndpoint]?: LookupAnswer | undefined };

/**
 * The outcome of looking up an item. Failure is data: a lookup resolves to a finding, whatever the
 * service did, and rejects only when the run itself cannot continue.
 */
export interface Finding {
  readonly status: FindingStatus;
  readonly answers: Answers;
  /** Members that are null in a partial answer, in the order of the interface. */
  readonly missing: readonly string[];
  readonly source: FindingSource;
  /** HTTP status of the answer that decided, or null when there was none. */
  readonly httpStatus: number | null;
  /** Requests it took; a duplicate repeats the count of the first. */
  readonly attempts: number;
  /** When the answer came, RFC 3339 UTC, or null when nothing was asked. */
  readonly lookedUpAt: string | null;
  readonly error: FindingError | null;
}

/** Answers longer than this count by their size where memory is bounded. Bytes. */
export const largeAnswer = 8 * 1024;

/** Bytes of the large answers of a finding. */
export function largeBytes({ answers }: Finding): number {
  let bytes = 0;
  for (const endpoint of lookupEndpoints) bytes += answers[endpoint]?.bytes ?? 0;
  return bytes;
}

/** The answer of the first endpoint that has one. */
export function firstAnswer({ answers }: Finding): LookupAnswer | null {
  for (const endpoint of lookupEndpoints) {
    const answer = answers[endpoint];
    if (answer !== undefined) return answer;
  }
  return null;
}

/** The finding of something for which no request was made. */
export function unasked(status: FindingStatus, error: FindingError | null): Finding {
  return {
    status,
    answers: {},
    missing: [],
    source: "local",
    httpStatus: null,
    attempts: 0,
    lookedUpAt: null,
    error,
  };
}
