import { columns, type ColumnValue } from "../../core/columns.js";
import type { EnrichedRow, Row } from "../../core/row.js";
import { parseTimestamp } from "../../core/clock.js";
import { nestedFacts, nestedText, type Verdict } from "../../core/finding.js";
import { cellMembers, uniqueNames } from "../ndjson/ndjson-writer.js";

/** What more than one shape tells of an item, in a form that all of them can use. */
export interface KnownFacts {
  /** RFC 3339 as received, or null; also when what was received is no date-time. */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  readonly tags: readonly string[];
  /** Number of the autonomous system. */
  readonly asNumber: number | null;
  readonly asName: string | null;
  readonly reverseDns: readonly string[];
  /** Observations of honeypots and spam traps together; null when the service did not tell. */
  readonly observations: number | null;
}

const readers = new Map(columns.map(({ name, value }) => [name, value]));

/** Reads the facts of a row, with the readers of the column table. */
export function knownFacts(enriched: EnrichedRow): KnownFacts {
  const read = (name: string): ColumnValue => readers.get(name)!(enriched);
  const counts = [read("honeypot_observations"), read("spamtrap_observations")].filter(
    (n) => typeof n === "number",
  );
  return {
    firstSeen: dateTime(read("first_seen")),
    lastSeen: dateTime(read("last_seen")),
    tags: list(read("tags")),
    asNumber: systemNumber(read("asn")),
    asName: text(read("as_name")),
    reverseDns: list(read("reverse_dns")),
    observations: counts.length === 0 ? null : counts.reduce((sum, n) => sum + n, 0),
  };
}

/** Milliseconds since 1970 of a date-time that is known to be one. */
export function epochMs(dateTime: string): number {
  return Number((parseTimestamp(dateTime) ?? 0n) / 1000n);
}

function text(value: ColumnValue): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function dateTime(value: ColumnValue): string | null {
  return typeof value === "string" && parseTimestamp(value) !== null ? value : null;
}

function list(value: ColumnValue): readonly string[] {
  return typeof value === "object" && value !== null ? value : [];
}

/** `AS64496` as 64496; numbers have 32 bits (RFC 6793). */
function systemNumber(value: ColumnValue): number | null {
  if (typeof value !== "string" || !/^AS\d{1,10}$/.test(value)) return null;
  const number = Number(value.slice(2));
  return number < 2 ** 32 ? number : null;
}

/**
 * Writes everything that repute knows of a row as one JSON object: the row's number,
 * the members of nested NDJSON, and the input's own columns under `input`.
 *
 * @param inputColumns the input's columns as they stand in the input
 */
export function reputeMember(
  inputColumns: readonly string[],
): (enriched: EnrichedRow, verdict: Verdict | null) => string {
  const keys = uniqueNames(inputColumns).map((name) => JSON.stringify(name) + ":");
  return ({ row, item, finding }, verdict) => {
    const facts = nestedText(nestedFacts(item, finding, verdict), finding);
    // What a source could not place is JSON already; a record of NDJSON has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    return `{"row":${row.number},${facts.slice(1, -1)},"input":${inputObject(row, keys)}${extra}}`;
  };
}

function inputObject(row: Row, keys: readonly string[]): string {
  if (row.json !== null) return row.json;
  return row.fault === null ? `{${cellMembers(row, keys)}}` : "null";
}
