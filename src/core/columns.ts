import { type LookupEndpoint, verdictOf } from "./finding.js";
import type { EnrichedRow } from "./row.js";

/** Types of the added columns; each output maps them to its own. */
export type ColumnType = "text" | "boolean" | "count" | "timestamp" | "text[]";

export type ColumnValue = string | number | boolean | readonly string[] | null;

/** One column that repute adds to the input's. */
export interface Column {
  /** Name without the prefix, e.g. `item` for `rep_item`. */
  readonly name: string;
  readonly type: ColumnType;
  /** What it says, as a sentence; the README's table shows it. */
  readonly description: string;
  readonly value: (enriched: EnrichedRow) => ColumnValue;
  /** Schema version that brought it. */
  readonly since: number;
}

/** Reads what a column says from an enriched row; a value of another type becomes null. */
type Read = (enriched: EnrichedRow) => unknown;

const text = columnsOf("text", stringIn);
const time = columnsOf("timestamp", stringIn);
const bool = columnsOf("boolean", (value) => (typeof value === "boolean" ? value : null));
/** Of a list its length. */
const count = columnsOf("count", (value) =>
  Array.isArray(value) ? value.length : typeof value === "number" ? value : null,
);
const list = columnsOf("text[]", (value) =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : null,
);

/** The added columns, in output order (behaviour: Columns). The header never depends on the data. */
export const columns: readonly Column[] = [
  text("item", "The item in its normal form: what was asked", ({ item }) => item?.value),
  text("kind", "ip, domain, url, sha1, crypto_wallet or email", ({ item }) => item?.kind),
  text("status", "complete, partial, invalid, unsupported or failed", (e) => e.finding.status),
  text(
    "verdict",
    "malicious, suspicious, listed or none (nothing known); empty without an answer",
    (e) => verdictOf(e.finding),
    2,
  ),
  list("missing", "Members that were null in a partial answer", (e) => e.finding.missing),
  text("type", "Kind of the query's result, as the service named it", query("type")),
  text("mail_blocklist", "Mail blocklist status", blocklist("query")),
  bool("bogon", "The address is in a reserved range", query("bogon")),
  text("intent", "malicious, suspicious, unknown or none (nothing known)", query("intent")),
  list("tags", "Tags of threat activity", query("tags")),
  time("first_seen", "First seen", query("firstSeen")),
  time("last_seen", "Last seen", query("lastSeen")),
  list("reverse_dns", "Current reverse DNS names", reverseDns),
  text("abuse_email", "Abuse contact", query("abuseContact", "email")),
  text("abuse_status", "Whether the abuse contact works", query("abuseContact", "status")),
  time(
    "abuse_verified_at",
    "When the abuse contact was last verified",
    query("abuseContact", "lastVerification"),
  ),
  text("asn", "Autonomous system, as AS<number>", query("asn", "asn")),
  text("as_name", "Name of the autonomous system", query("asn", "name")),
  text(
    "as_country",
    "Country of the autonomous system, ISO 3166-1 alpha-2",
    query("asn", "countryCode"),
  ),
  time("honeypot_first_seen", "First honeypot interaction", honeypot("firstSeen")),
  time("honeypot_last_seen", "Last honeypot interaction", honeypot("lastSeen")),
  count("honeypot_observations", "Honeypot observations", honeypot("observations")),
  time("spamtrap_first_seen", "First spamtrap interaction", spamtrap("firstSeen")),
  time("spamtrap_last_seen", "Last spamtrap interaction", spamtrap("lastSeen")),
  count("spamtrap_observations", "Spamtrap observations", spamtrap("observations")),
  text(
    "quick_mail_blocklist",
    "Mail blocklist status by the quick check",
    blocklist("quick-check"),
  ),
  text("quick_intent", "Intent by the quick check", member("quick-check", "intent")),
  bool("quick_bogon", "Reserved range by the quick check", member("quick-check", "bogon")),
  bool(
    "quick_activity",
    "Activity was seen, by the quick check",
    member("quick-check", "activity"),
  ),
  text("source", "live, cache, duplicate or local; empty when nothing was asked", (e) =>
    e.item === null ? null : e.finding.source,
  ),
  count("http_status", "HTTP status of the answer that decided", (e) => e.finding.httpStatus),
  count("attempts", "Requests that the answer took", (e) => e.finding.attempts),
  time("looked_up_at", "When the answer came", (e) => e.finding.lookedUpAt),
  text("error_code", "Why there is no full answer, for programs", (e) => e.finding.error?.code),
  text("error", "Why there is no full answer, for people", (e) => e.finding.error?.message),
  text("extra", "JSON of what the input's columns had no place for", (e) => e.row.extra),
];

/** Version of the column table: that of its newest column. A change of any column needs a new one. */
export const schemaVersion = Math.max(...columns.map(({ since }) => since));

/** The columns that outputs of a schema version have. */
export function columnsAt(version: number): readonly Column[] {
  return columns.filter(({ since }) => since <= version);
}

/** Makes columns of one type. */
function columnsOf(type: ColumnType, valueIn: (value: unknown) => ColumnValue) {
  return (name: string, description: string, read: Read, since = 1): Column => ({
    name,
    type,
    description,
    since,
    value: (enriched) => valueIn(read(enriched)),
  });
}

function stringIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Reads the member at a path in an endpoint's result. */
function member(endpoint: LookupEndpoint, ...path: readonly string[]): Read {
  return ({ finding }) => {
    let value: unknown = finding.answers[endpoint]?.result;
    for (const name of path) value = memberOf(value, name);
    return value;
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function query(...path: readonly string[]): Read {
  return member("query", ...path);
}

function honeypot(name: string): Read {
  return query("observedActivity", "honeypotInteractions", name);
}

function spamtrap(name: string): Read {
  return query("observedActivity", "spamtrapInteractions", name);
}

/** The specification's name, or the one that the deployed service uses (facts: block list field). */
function blocklist(endpoint: LookupEndpoint): Read {
  const specified = member(endpoint, "serviceMailBlocklist");
  const deployed = member(endpoint, "abusixMailBlocklist");
  return (enriched) => stringIn(specified(enriched)) ?? deployed(enriched);
}

function reverseDns({ finding }: EnrichedRow): unknown {
  const current = memberOf(finding.answers.query?.result["reverseDns"], "current");
  return Array.isArray(current) ? current.map((entry) => memberOf(entry, "entry")) : null;
}
