import type { ErrorCode } from "./error-codes.js";
import type { Item } from "./item/item.js";

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
  readonly code: ErrorCode;
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

/** What the answers say about an item, gravest first. `none` means that nothing is known. */
export const verdicts = ["malicious", "suspicious", "listed", "none"] as const;

export type Verdict = (typeof verdicts)[number];

/** A verdict that speaks against the item. */
export type Accusation = Exclude<Verdict, "none">;

/**
 * The graver verdict of query and quick check; null when neither answered.
 *
 * `none` never means safe: `intent: none` and `NOT_LISTED` say that nothing is known, `unknown` that
 * the intent of what was seen is not, and `ALLOWLIST` is about mail only. `PASSIVE` and
 * `INFORMATIONAL` listings accuse nobody.
 */
export function verdictOf({ answers }: Finding): Verdict | null {
  const query = answers.query?.result;
  const quickCheck = answers["quick-check"]?.result;
  if (query === undefined && quickCheck === undefined) return null;
  const intent = query?.["intent"];
  const quickIntent = quickCheck?.["intent"];
  if (intent === "malicious" || quickIntent === "malicious") return "malicious";
  if (intent === "suspicious" || quickIntent === "suspicious") return "suspicious";
  return isListed(query) || isListed(quickCheck) ? "listed" : "none";
}

/** The verdict when it speaks against the item, else null. */
export function accusationIn(verdict: Verdict | null): Accusation | null {
  return verdict === "none" ? null : verdict;
}

/** The interface documents the first name; deployed services also use the second. */
function isListed(result: JsonObject | undefined): boolean {
  return (
    result?.["serviceMailBlocklist"] === "ACTIVE" || result?.["abusixMailBlocklist"] === "ACTIVE"
  );
}

/** The members of nested output, in their order. */
export function nestedFacts(
  item: Item | null,
  finding: Finding,
  verdict: Verdict | null = verdictOf(finding),
): Record<string, unknown> {
  const facts: Record<string, unknown> = {
    item: item?.value ?? null,
    kind: item?.kind ?? null,
    status: finding.status,
    verdict,
    missing: finding.missing,
  };
  for (const { endpoint, member } of slots) {
    facts[member] = finding.answers[endpoint]?.result ?? null;
  }
  facts["source"] = item === null ? null : finding.source;
  facts["http_status"] = finding.httpStatus;
  facts["attempts"] = finding.attempts;
  facts["looked_up_at"] = finding.lookedUpAt;
  facts["error"] = finding.error;
  return facts;
}

/** Nested members as JSON text, in which results stand as they were received where their text is kept. */
export function nestedText(facts: Readonly<Record<string, unknown>>, finding: Finding): string {
  const texts: Record<string, string | undefined> = {};
  let isReceived = false;
  for (const { endpoint, member } of slots) {
    const text = finding.answers[endpoint]?.text;
    if (text === undefined) continue;
    texts[member] = text;
    isReceived = true;
  }
  if (!isReceived) return JSON.stringify(facts);
  const members = Object.entries(facts).map(
    ([name, value]) => `"${name}":${texts[name] ?? JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}`;
}

/** Each endpoint with the member that has its result. */
const slots = lookupEndpoints.map((endpoint) => ({ endpoint, member: memberOf(endpoint) }));
