import { endpoints } from "./endpoints/endpoints.js";

/** Answers of the embedded service, which say nothing about the items: from its dataset, or invented. */
export type MadeUp = "sample" | "invented";

/** How messages describe such answers. */
export const madeUpText: Readonly<Record<MadeUp, readonly [name: string, meaning: string]>> = {
  sample: ["Sample data", "The embedded service's answers say nothing about real hosts"],
  invented: [
    "Invented data",
    "The service made these answers up (--synthetic); they say nothing about real hosts",
  ],
};

/**
 * Where an answer came from, the nearest to the service first: the service, what stands in for one, a
 * cache, an earlier row of the run, or repute itself.
 */
export const findingSources = [
  "live",
  "sample",
  "invented",
  "cache",
  "duplicate",
  "local",
] as const;

export type FindingSource = (typeof findingSources)[number];

/** Whose answers a table holds: those of a real service, or made-up ones. */
export type TableData = "real" | "made up";

export const findingStatuses = ["complete", "partial", "invalid", "unsupported", "failed"] as const;

export type FindingStatus = (typeof findingStatuses)[number];

export type LookupEndpoint = keyof typeof endpoints;

export const lookupEndpoints = Object.keys(endpoints) as readonly LookupEndpoint[];

/** Name of an endpoint's member in JSON, such as `quick_check`. */
export function memberOf(endpoint: LookupEndpoint): string {
  return endpoint.replaceAll("-", "_");
}

export function eachEndpoint<Value>(
  make: (endpoint: LookupEndpoint) => Value,
): Record<LookupEndpoint, Value> {
  const entries = lookupEndpoints.map((endpoint) => [endpoint, make(endpoint)]);
  return Object.fromEntries(entries) as Record<LookupEndpoint, Value>;
}

/** A JSON object as the service sent it, unknown members included. */
export type JsonObject = { readonly [member: string]: unknown };

export interface FindingError {
  readonly code: string;
  /** Human-readable; for `invalid`, the service's own message (`errors.$`). */
  readonly message: string;
}

export interface LookupAnswer {
  readonly result: JsonObject;
  /**
   * The JSON text of `result` as received, byte for byte, except that line breaks between tokens are
   * removed so that it fits on one line of NDJSON. Set only where a run or a cache keeps the text.
   */
  readonly text?: string | undefined;
  /** Size in bytes of the text that `result` was parsed from, if above `largeAnswer`. */
  readonly bytes?: number | undefined;
  /** Set if the service said that the answer is made up. */
  readonly madeUp?: MadeUp | undefined;
}

/** One slot per endpoint; absent if it was not asked or did not answer. */
export type Answers = { readonly [endpoint in LookupEndpoint]?: LookupAnswer | undefined };

/**
 * The outcome of looking up an item. Failure is data: a lookup resolves to a finding whatever the
 * service did, and rejects only if the run itself cannot continue.
 */
export interface Finding {
  readonly status: FindingStatus;
  readonly answers: Answers;
  /** Members that are null in a partial answer, in the interface's order. */
  readonly missing: readonly string[];
  readonly source: FindingSource;
  /** HTTP status of the deciding answer; null without one. */
  readonly httpStatus: number | null;
  /** Requests sent; a duplicate repeats the count of the first. */
  readonly attempts: number;
  /** When the answer arrived, RFC 3339 UTC; null if nothing was asked. */
  readonly lookedUpAt: string | null;
  readonly error: FindingError | null;
}

/** Bytes above which bounded memory counts an answer by its size. */
export const largeAnswer = 8 * 1024;

export function largeBytes({ answers }: Finding): number {
  let bytes = 0;
  for (const endpoint of lookupEndpoints) bytes += answers[endpoint]?.bytes ?? 0;
  return bytes;
}

export function firstAnswer({ answers }: Finding): LookupAnswer | null {
  const endpoint = lookupEndpoints.find((name) => answers[name] !== undefined);
  return endpoint === undefined ? null : answers[endpoint]!;
}

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

/** What the answers say about an item, gravest first. `none` means that nothing is known. */
export const verdicts = ["malicious", "suspicious", "listed", "none"] as const;

export type Verdict = (typeof verdicts)[number];

export type Accusation = Exclude<Verdict, "none">;

/** What rows are counted under: their verdict, or `unknown` without one. */
export const countedVerdicts = [...verdicts, "unknown"] as const;

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
  readonly outcome: string;
  readonly again: Again | null;
  /** Values that the interface doesn't list, as `member=value`. */
  readonly drift: readonly string[];
  /**
   * The text of the body, if it is a full answer. A journal stores it as is instead of serialising the
   * data again.
   */
  readonly body?: string | undefined;
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
