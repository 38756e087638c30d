import { isTimestamp } from "./clock.js";
import {
  type LookupEndpoint,
  mailBlocklist,
  memberOf as resultMember,
  verdictOf,
} from "./finding.js";
import { type Column, columnOf, memberIn, type Origin } from "./column.js";
import type { EnrichedRow } from "./row.js";

const { text, time, bool, count, list } = columnOf;

/** The added columns, in output order. The header never depends on the data. */
export const columns: readonly Column[] = [
  text("item", "The normalised item, as sent to the service", ({ item }) => item?.value),
  text("kind", "ip, domain, url, sha1, crypto_wallet or email", ({ item }) => item?.kind),
  text("status", "complete, partial, invalid, unsupported or failed", (e) => e.finding.status),
  text("verdict", "malicious, suspicious, listed or none (nothing known); empty if unknown", (e) =>
    verdictOf(e.finding),
  ),
  list("missing", "Members that were null in a partial answer", (e) => e.finding.missing),
  text("type", "The service's own type of the result, such as IP_BOGON", query("type")),
  text("mail_blocklist", "Mail blocklist status", blocklist("query")),
  bool("bogon", "The address is in a reserved range", query("bogon")),
  text("intent", "malicious, suspicious, unknown or none (nothing known)", query("intent")),
  list("tags", "Tags of threat activity", query("tags")),
  time("first_seen", "First seen", query("firstSeen")),
  time("last_seen", "Last seen", query("lastSeen")),
  list("reverse_dns", "Current reverse DNS names", reverseDns()),
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
    "Mail blocklist status, from the quick check",
    blocklist("quick-check"),
  ),
  text("quick_intent", "Intent, from the quick check", quickCheck("intent")),
  bool(
    "quick_bogon",
    "The address is in a reserved range, from the quick check",
    quickCheck("bogon"),
  ),
  bool("quick_activity", "Activity was observed, from the quick check", quickCheck("activity")),
  text(
    "source",
    "live, cache, duplicate or local; sample or invented from the embedded service; empty if nothing was looked up",
    (e) => (e.item === null ? null : e.finding.source),
  ),
  count("http_status", "HTTP status of the deciding answer", (e) => e.finding.httpStatus),
  count("attempts", "Requests sent for this answer", (e) => e.finding.attempts),
  time("looked_up_at", "When the answer arrived", (e) => e.finding.lookedUpAt),
  text("error_code", "Stable error code (docs/errors.md)", (e) => e.finding.error?.code),
  text("error", "Error message", (e) => e.finding.error?.message),
  text("extra", "Surplus cells or members of the input row, as JSON", (e) => e.row.extra),
];

const times = columns.filter(({ type }) => type === "timestamp");

export function hasOtherTime(enriched: EnrichedRow): boolean {
  return times.some(({ value }) => {
    const found = value(enriched);
    return typeof found === "string" && !isTimestamp(found);
  });
}

export interface OptionalColumns {
  /** The file of each row: with several inputs. */
  readonly file?: boolean;
  /** The item column of each row: with several. */
  readonly column?: boolean;
  /** The results as received: with `--raw`. */
  readonly raw?: boolean;
  /** Names of the only ones of `columns`, in their order: with `--columns`. @default all */
  readonly only?: readonly string[] | undefined;
}

type OptionalKind = Exclude<keyof OptionalColumns, "only">;

const optionalColumns: Readonly<Record<OptionalKind, readonly Column[]>> = {
  file: [text("file", "With several inputs: the file of the row, as named", ({ row }) => row.file)],
  column: [
    text("column", "With several item columns: the one of the row", ({ row }) => row.column),
  ],
  raw: [raw("query", "query"), raw("quick-check", "quick check")],
};

export function addedColumns({ only, ...optional }: OptionalColumns): readonly Column[] {
  const own = optionalKinds.filter((kind) => optional[kind] === true);
  if (own.length === 0 && only === undefined) return columns;
  const chosen = only?.map((name) => columns.find((column) => column.name === name)!) ?? columns;
  return [...chosen, ...own.flatMap((kind) => optionalColumns[kind])];
}

export function optionalColumnsIn(names: readonly string[], prefix: string): OptionalColumns {
  const has = (kind: OptionalKind): boolean =>
    optionalColumns[kind].every(({ name }) => names.includes(prefix + name));
  const optional = Object.fromEntries(optionalKinds.map((kind) => [kind, has(kind)]));
  const known = new Set(columns.map(({ name }) => prefix + name));
  const found = names.filter((name) => known.has(name)).map((name) => name.slice(prefix.length));
  const isAll = columns.every(({ name }, index) => found[index] === name);
  return isAll ? optional : { ...optional, only: found };
}

export function lackedColumns(
  needed: readonly string[],
  { only }: OptionalColumns,
): readonly string[] {
  return only === undefined ? [] : needed.filter((name) => !only.includes(name));
}

const optionalKinds = Object.keys(optionalColumns) as readonly OptionalKind[];

/** Version of the column table. Any change to a column needs a new version. */
export const schemaVersion = 4;

function raw(endpoint: LookupEndpoint, what: string): Column {
  const description = `With --raw: the result of the ${what} as received, as JSON`;
  return text(resultMember(endpoint), description, ({ finding }) => {
    const answer = finding.answers[endpoint];
    return answer === undefined ? null : (answer.text ?? JSON.stringify(answer.result));
  });
}

function query(...path: readonly string[]): Origin {
  return { endpoint: "query", path };
}

function quickCheck(...path: readonly string[]): Origin {
  return { endpoint: "quick-check", path };
}

function honeypot(name: string): Origin {
  return query("observedActivity", "honeypotInteractions", name);
}

function spamtrap(name: string): Origin {
  return query("observedActivity", "spamtrapInteractions", name);
}

/** The specified member, or the one that deployed services send instead. */
function blocklist(endpoint: LookupEndpoint): Origin {
  return {
    endpoint,
    path: ["serviceMailBlocklist"],
    read: (_, result) => mailBlocklist(result),
  };
}

function reverseDns(): Origin {
  return {
    endpoint: "query",
    path: ["reverseDns"],
    read: (member) => {
      const current = memberIn(member, "current");
      return Array.isArray(current) ? current.map((entry) => memberIn(entry, "entry")) : null;
    },
    restore: (names) =>
      Array.isArray(names) && names.length > 0
        ? { current: names.map((entry: string) => ({ entry })) }
        : null,
  };
}
