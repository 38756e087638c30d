import type { JsonObject } from "./finding.js";
import type { EnrichedRow } from "./row.js";

/** Version of the column table below. A change of any column needs a new one. */
export const schemaVersion = 1;

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
}

const blocklistMembers = ["serviceMailBlocklist", "abusixMailBlocklist"] as const;

/** The added columns, in output order (behaviour: Columns). The header never depends on the data. */
export const columns: readonly Column[] = [
  text("item", "The item in its normal form: what was asked", ({ item }) => item?.value ?? null),
  text("kind", "ip, domain, url, sha1, crypto_wallet or email", ({ item }) => item?.kind ?? null),
  text("status", "complete, partial, invalid, unsupported or failed", (e) => e.finding.status),
  list("missing", "Members that were null in a partial answer", (e) => e.finding.missing),
  text("type", "Kind of the query's result, as the service named it", (e) =>
    stringAt(e.finding.query, "type"),
  ),
  text("mail_blocklist", "Mail blocklist status", (e) => blocklistOf(e.finding.query)),
  bool("bogon", "The address is in a reserved range", (e) => boolAt(e.finding.query, "bogon")),
  text("intent", "malicious, suspicious, unknown or none (nothing known)", (e) =>
    stringAt(e.finding.query, "intent"),
  ),
  list("tags", "Tags of threat activity", (e) => stringsAt(e.finding.query, "tags")),
  time("first_seen", "First seen", (e) => stringAt(e.finding.query, "firstSeen")),
  time("last_seen", "Last seen", (e) => stringAt(e.finding.query, "lastSeen")),
  list("reverse_dns", "Current reverse DNS names", (e) => reverseDnsOf(e.finding.query)),
  text("abuse_email", "Abuse contact", (e) => stringAt(part(e, "abuseContact"), "email")),
  text("abuse_status", "Whether the abuse contact works", (e) =>
    stringAt(part(e, "abuseContact"), "status"),
  ),
  time("abuse_verified_at", "When the abuse contact was last verified", (e) =>
    stringAt(part(e, "abuseContact"), "lastVerification"),
  ),
  text("asn", "Autonomous system, as AS<number>", (e) => stringAt(part(e, "asn"), "asn")),
  text("as_name", "Name of the autonomous system", (e) => stringAt(part(e, "asn"), "name")),
  text("as_country", "Country of the autonomous system, ISO 3166-1 alpha-2", (e) =>
    stringAt(part(e, "asn"), "countryCode"),
  ),
  time("honeypot_first_seen", "First honeypot interaction", (e) =>
    stringAt(activity(e, "honeypotInteractions"), "firstSeen"),
  ),
  time("honeypot_last_seen", "Last honeypot interaction", (e) =>
    stringAt(activity(e, "honeypotInteractions"), "lastSeen"),
  ),
  count("honeypot_observations", "Honeypot observations", (e) =>
    lengthAt(activity(e, "honeypotInteractions"), "observations"),
  ),
  time("spamtrap_first_seen", "First spamtrap interaction", (e) =>
    stringAt(activity(e, "spamtrapInteractions"), "firstSeen"),
  ),
  time("spamtrap_last_seen", "Last spamtrap interaction", (e) =>
    stringAt(activity(e, "spamtrapInteractions"), "lastSeen"),
  ),
  count("spamtrap_observations", "Spamtrap observations", (e) =>
    lengthAt(activity(e, "spamtrapInteractions"), "observations"),
  ),
  text("quick_mail_blocklist", "Mail blocklist status by the quick check", (e) =>
    blocklistOf(e.finding.quickCheck),
  ),
  text("quick_intent", "Intent by the quick check", (e) =>
    stringAt(e.finding.quickCheck, "intent"),
  ),
  bool("quick_bogon", "Reserved range by the quick check", (e) =>
    boolAt(e.finding.quickCheck, "bogon"),
  ),
  bool("quick_activity", "Activity was seen, by the quick check", (e) =>
    boolAt(e.finding.quickCheck, "activity"),
  ),
  text("source", "live, cache, duplicate or local; empty when nothing was asked", (e) =>
    e.item === null ? null : e.finding.source,
  ),
  count("http_status", "HTTP status of the answer that decided", (e) => e.finding.httpStatus),
  count("attempts", "Requests that the answer took", (e) => e.finding.attempts),
  time("looked_up_at", "When the answer came", (e) => e.finding.lookedUpAt),
  text("error_code", "Why there is no full answer, for programs", (e) =>
    e.finding.error === null ? null : e.finding.error.code,
  ),
  text("error", "Why there is no full answer, for people", (e) =>
    e.finding.error === null ? null : e.finding.error.message,
  ),
  text("extra", "JSON of what the input's columns had no place for", (e) => e.row.extra),
];

type Read<V extends ColumnValue> = (enriched: EnrichedRow) => V;

function text(name: string, description: string, value: Read<string | null>): Column {
  return { name, type: "text", description, value };
}

function time(name: string, description: string, value: Read<string | null>): Column {
  return { name, type: "timestamp", description, value };
}

function bool(name: string, description: string, value: Read<boolean | null>): Column {
  return { name, type: "boolean", description, value };
}

function count(name: string, description: string, value: Read<number | null>): Column {
  return { name, type: "count", description, value };
}

function list(name: string, description: string, value: Read<readonly string[] | null>): Column {
  return { name, type: "text[]", description, value };
}

function stringAt(object: JsonObject | null, member: string): string | null {
  const value = object?.[member];
  return typeof value === "string" ? value : null;
}

function boolAt(object: JsonObject | null, member: string): boolean | null {
  const value = object?.[member];
  return typeof value === "boolean" ? value : null;
}

function stringsAt(object: JsonObject | null, member: string): readonly string[] | null {
  const value = object?.[member];
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : null;
}

function lengthAt(object: JsonObject | null, member: string): number | null {
  const value = object?.[member];
  return Array.isArray(value) ? value.length : null;
}

function objectAt(object: JsonObject | null, member: string): JsonObject | null {
  const value = object?.[member];
  return typeof value === "object" && value !== null ? (value as JsonObject) : null;
}

function part(enriched: EnrichedRow, member: string): JsonObject | null {
  return objectAt(enriched.finding.query, member);
}

function activity(enriched: EnrichedRow, member: string): JsonObject | null {
  return objectAt(objectAt(enriched.finding.query, "observedActivity"), member);
}

/** The specification's name, or the one that the deployed service uses (facts: block list field). */
function blocklistOf(result: JsonObject | null): string | null {
  return stringAt(result, blocklistMembers[0]) ?? stringAt(result, blocklistMembers[1]);
}

function reverseDnsOf(result: JsonObject | null): readonly string[] | null {
  const current = objectAt(result, "reverseDns")?.["current"];
  if (!Array.isArray(current)) return null;
  return current
    .map((entry: unknown) =>
      typeof entry === "object" && entry !== null ? (entry as JsonObject)["entry"] : null,
    )
    .filter((entry) => typeof entry === "string");
}
