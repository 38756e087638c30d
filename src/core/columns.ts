import type { JsonObject } from "./finding.js";
import type { EnrichedRow } from "./row.js";
import { verdictOf } from "./verdict.js";

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

const text = columnsOf<string | null>("text");
const time = columnsOf<string | null>("timestamp");
const bool = columnsOf<boolean | null>("boolean");
const count = columnsOf<number | null>("count");
const list = columnsOf<readonly string[] | null>("text[]");

/** Makes columns of one type. */
function columnsOf<Value extends ColumnValue>(type: ColumnType) {
  return (
    name: string,
    description: string,
    value: (enriched: EnrichedRow) => Value,
    since = 1,
  ): Column => ({ name, type, description, value, since });
}

/** The added columns, in output order (behaviour: Columns). The header never depends on the data. */
export const columns: readonly Column[] = [
  text("item", "The item in its normal form: what was asked", ({ item }) => item?.value ?? null),
  text("kind", "ip, domain, url, sha1, crypto_wallet or email", ({ item }) => item?.kind ?? null),
  text("status", "complete, partial, invalid, unsupported or failed", (e) => e.finding.status),
  text(
    "verdict",
    "malicious, suspicious, listed or none (nothing known); empty without an answer",
    (e) => verdictOf(e.finding),
    2,
  ),
  list("missing", "Members that were null in a partial answer", (e) => e.finding.missing),
  text("type", "Kind of the query's result, as the service named it", (e) =>
    stringIn(queryOf(e)?.["type"]),
  ),
  text("mail_blocklist", "Mail blocklist status", (e) => blocklistOf(queryOf(e))),
  bool("bogon", "The address is in a reserved range", (e) => boolIn(queryOf(e)?.["bogon"])),
  text("intent", "malicious, suspicious, unknown or none (nothing known)", (e) =>
    stringIn(queryOf(e)?.["intent"]),
  ),
  list("tags", "Tags of threat activity", (e) => stringsIn(queryOf(e)?.["tags"])),
  time("first_seen", "First seen", (e) => stringIn(queryOf(e)?.["firstSeen"])),
  time("last_seen", "Last seen", (e) => stringIn(queryOf(e)?.["lastSeen"])),
  list("reverse_dns", "Current reverse DNS names", (e) => reverseDnsOf(queryOf(e))),
  text("abuse_email", "Abuse contact", (e) => stringIn(contactOf(e)?.["email"])),
  text("abuse_status", "Whether the abuse contact works", (e) =>
    stringIn(contactOf(e)?.["status"]),
  ),
  time("abuse_verified_at", "When the abuse contact was last verified", (e) =>
    stringIn(contactOf(e)?.["lastVerification"]),
  ),
  text("asn", "Autonomous system, as AS<number>", (e) => stringIn(asnOf(e)?.["asn"])),
  text("as_name", "Name of the autonomous system", (e) => stringIn(asnOf(e)?.["name"])),
  text("as_country", "Country of the autonomous system, ISO 3166-1 alpha-2", (e) =>
    stringIn(asnOf(e)?.["countryCode"]),
  ),
  time("honeypot_first_seen", "First honeypot interaction", (e) =>
    stringIn(honeypotOf(e)?.["firstSeen"]),
  ),
  time("honeypot_last_seen", "Last honeypot interaction", (e) =>
    stringIn(honeypotOf(e)?.["lastSeen"]),
  ),
  count("honeypot_observations", "Honeypot observations", (e) =>
    lengthIn(honeypotOf(e)?.["observations"]),
  ),
  time("spamtrap_first_seen", "First spamtrap interaction", (e) =>
    stringIn(spamtrapOf(e)?.["firstSeen"]),
  ),
  time("spamtrap_last_seen", "Last spamtrap interaction", (e) =>
    stringIn(spamtrapOf(e)?.["lastSeen"]),
  ),
  count("spamtrap_observations", "Spamtrap observations", (e) =>
    lengthIn(spamtrapOf(e)?.["observations"]),
  ),
  text("quick_mail_blocklist", "Mail blocklist status by the quick check", (e) =>
    blocklistOf(quickCheckOf(e)),
  ),
  text("quick_intent", "Intent by the quick check", (e) => stringIn(quickCheckOf(e)?.["intent"])),
  bool("quick_bogon", "Reserved range by the quick check", (e) =>
    boolIn(quickCheckOf(e)?.["bogon"]),
  ),
  bool("quick_activity", "Activity was seen, by the quick check", (e) =>
    boolIn(quickCheckOf(e)?.["activity"]),
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

/** Version of the column table: that of its newest column. A change of any column needs a new one. */
export const schemaVersion = Math.max(...columns.map(({ since }) => since));

/** The columns that outputs of a schema version have. */
export function columnsAt(version: number): readonly Column[] {
  return columns.filter(({ since }) => since <= version);
}

// Each member is read where its name is known: V8 finds it at once there, where a function that is
// handed the name searches for it, 20 times a row (2% of a run whose answers are in a cache).

function stringIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function boolIn(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

function stringsIn(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : null;
}

function lengthIn(value: unknown): number | null {
  return Array.isArray(value) ? value.length : null;
}

function objectIn(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null ? (value as JsonObject) : null;
}

function contactOf({ finding }: EnrichedRow): JsonObject | null {
  return objectIn(finding.answers.query?.result["abuseContact"]);
}

function asnOf({ finding }: EnrichedRow): JsonObject | null {
  return objectIn(finding.answers.query?.result["asn"]);
}

function honeypotOf({ finding }: EnrichedRow): JsonObject | null {
  return objectIn(
    objectIn(finding.answers.query?.result["observedActivity"])?.["honeypotInteractions"],
  );
}

function spamtrapOf({ finding }: EnrichedRow): JsonObject | null {
  return objectIn(
    objectIn(finding.answers.query?.result["observedActivity"])?.["spamtrapInteractions"],
  );
}

function queryOf({ finding }: EnrichedRow): JsonObject | undefined {
  return finding.answers.query?.result;
}

function quickCheckOf({ finding }: EnrichedRow): JsonObject | undefined {
  return finding.answers["quick-check"]?.result;
}

/** The specification's name, or the one that the deployed service uses (facts: block list field). */
function blocklistOf(result: JsonObject | undefined): string | null {
  return stringIn(result?.["serviceMailBlocklist"]) ?? stringIn(result?.["abusixMailBlocklist"]);
}

function reverseDnsOf(result: JsonObject | undefined): readonly string[] | null {
  const current = objectIn(result?.["reverseDns"])?.["current"];
  if (!Array.isArray(current)) return null;
  return current
    .map((entry: unknown) => objectIn(entry)?.["entry"])
    .filter((entry) => typeof entry === "string");
}
