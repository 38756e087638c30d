import type { FindingSource, MadeUp } from "./finding-source.js";
import type { Item } from "./item/item.js";

export const findingStatuses = ["complete", "partial", "invalid", "unsupported", "failed"] as const;

export type FindingStatus = (typeof findingStatuses)[number];

export const lookupEndpoints = ["query", "quick-check"] as const;

export type LookupEndpoint = (typeof lookupEndpoints)[number];

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
  for (const endpoint of lookupEndpoints) {
    const answer = answers[endpoint];
    if (answer !== undefined) return answer;
  }
  return null;
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

export type VerdictCounts = Record<(typeof countedVerdicts)[number], number>;

/** Documented intents. `none` means that nothing is known against the item, not that it is safe. */
export const intents = ["malicious", "suspicious", "unknown", "none"] as const;

/** Documented mail blocklist statuses. */
export const blocklistStatuses = [
  "ACTIVE",
  "ALLOWLIST",
  "INFORMATIONAL",
  "NOT_LISTED",
  "PASSIVE",
] as const;

/** The members of an answer that can speak against an item, under their specified names. */
export const decisiveMembers = ["intent", "serviceMailBlocklist"] as const;

type DecisiveMember = (typeof decisiveMembers)[number];

const documented: Readonly<Record<DecisiveMember, ReadonlySet<unknown>>> = {
  intent: new Set(intents),
  serviceMailBlocklist: new Set(blocklistStatuses),
};

/**
 * Whether a value is there that the interface doesn't document, such as `MALICIOUS` or `critical`. It
 * accuses nobody, and keeps the verdict from being `none`.
 */
export function isOtherWord(member: DecisiveMember, value: unknown): boolean {
  return (value ?? null) !== null && !documented[member].has(value);
}

export function hasOtherWord({ answers }: Finding): boolean {
  return isInOtherWords(answers.query?.result) || isInOtherWords(answers["quick-check"]?.result);
}

function isInOtherWords(result: JsonObject | undefined): boolean {
  if (result === undefined) return false;
  return (
    isOtherWord("intent", result["intent"]) || isOtherWord("serviceMailBlocklist", listedAs(result))
  );
}

/**
 * The graver verdict of query and quick check; null if it is unknown. One answer is enough to accuse
 * an item, but `none` needs all of them: what is missing could speak against it.
 *
 * `none` never means safe: `intent: none` and `NOT_LISTED` say that nothing is known, `unknown` says
 * that something was seen but its intent isn't known, and `ALLOWLIST` is about mail only. `PASSIVE`
 * and `INFORMATIONAL` listings accuse nobody. Nobody knows whether an undocumented word is an accusation.
 */
export function verdictOf(finding: Finding): Verdict | null {
  const { status, answers, missing } = finding;
  const query = answers.query?.result;
  const quickCheck = answers["quick-check"]?.result;
  if (query === undefined && quickCheck === undefined) return null;
  const intent = query?.["intent"];
  const quickIntent = quickCheck?.["intent"];
  if (intent === "malicious" || quickIntent === "malicious") return "malicious";
  if (intent === "suspicious" || quickIntent === "suspicious") return "suspicious";
  if (mailBlocklist(query) === "ACTIVE" || mailBlocklist(quickCheck) === "ACTIVE") return "listed";
  if (hasOtherWord(finding)) return null;
  if (status === "complete") return query === undefined && lacks(quickCheck) ? null : "none";
  if (status !== "partial") return null;
  // A partial answer is enough if the quick check has what it lacks.
  const isOpen = (member: DecisiveMember, other: unknown): boolean =>
    missing.includes(member) && (other ?? null) === null;
  return isOpen("intent", quickIntent) || isOpen("serviceMailBlocklist", mailBlocklist(quickCheck))
    ? null
    : "none";
}

const typesWithoutIntent: ReadonlySet<unknown> = new Set(["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"]);

/** Whether a quick check lacks what a verdict needs: any member of it but `item` may be null. */
function lacks(quickCheck: JsonObject | undefined): boolean {
  if (quickCheck === undefined || quickCheck["bogon"] === true) return false;
  const { type, intent } = quickCheck;
  const isWithoutIntent = (intent ?? null) === null && !typesWithoutIntent.has(type);
  return isWithoutIntent || mailBlocklist(quickCheck) === null;
}

export function accusationIn(verdict: Verdict | null): Accusation | null {
  return verdict === "none" ? null : verdict;
}

/**
 * The mail blocklist status of a query or quick-check result, or null. The specification calls the
 * member `serviceMailBlocklist`, deployed services call it `abusixMailBlocklist`.
 */
export function mailBlocklist(result: JsonObject | undefined): string | null {
  const status = listedAs(result);
  return typeof status === "string" ? status : null;
}

function listedAs(result: JsonObject | undefined): unknown {
  return result?.["serviceMailBlocklist"] ?? result?.["abusixMailBlocklist"];
}

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

/** Nested members as JSON text. Results are copied as received where their text was kept. */
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

const slots = lookupEndpoints.map((endpoint) => ({ endpoint, member: memberOf(endpoint) }));
