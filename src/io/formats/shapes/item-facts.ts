import type { ColumnValue } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";
import type { EnrichedRow, Row } from "../../../core/row.js";
import { parseTimestamp } from "../../../core/clock.js";
import { type Verdict } from "../../../core/finding.js";
import { nestedFacts, nestedText } from "../../../core/nested-facts.js";
import { cellMembers, uniqueNames } from "../ndjson/ndjson-writer.js";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { countJson } from "../ndjson/ndjson-output.js";
import { splitLines } from "../record-splitter.js";
import type { EncoderOptions, WritableFormat } from "../types.js";

export interface ItemFacts {
  /** RFC 3339 as received; null if missing or not a date-time. */
  readonly firstSeen: string | null;
  readonly lastSeen: string | null;
  readonly tags: readonly string[];
  readonly asNumber: number | null;
  readonly asName: string | null;
  /** Honeypot and spam trap observations together; null if the service sent neither. */
  readonly observations: number | null;
}

const readers = new Map(columns.map(({ name, value }) => [name, value]));

export function itemFacts(enriched: EnrichedRow): ItemFacts {
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
    observations: counts.length === 0 ? null : counts.reduce((sum, n) => sum + n, 0),
  };
}

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

/** `AS64496` as 64496. AS numbers have 32 bits (RFC 6793). */
function systemNumber(value: ColumnValue): number | null {
  if (typeof value !== "string" || !/^AS\d{1,10}$/.test(value)) return null;
  const number = Number(value.slice(2));
  return number < 2 ** 32 ? number : null;
}

/**
 * Writes everything known about a row as one JSON object: the row number, the members of nested
 * NDJSON, and the input's columns under `input`.
 * @param inputColumns the input's column names, unchanged
 */
export function reputeMember(
  inputColumns: readonly string[],
): (enriched: EnrichedRow, verdict: Verdict | null) => string {
  const input = inputMember(inputColumns);
  return ({ row, item, finding }, verdict) => {
    const facts = nestedText(nestedFacts(item, finding, verdict), finding);
    // `extra` of a cell-based source is already JSON; an NDJSON record has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    return `{"row":${row.number},${facts.slice(1, -1)},"input":${input(row)}${extra}}`;
  };
}

/**
 * Writes a row's own columns as a JSON object: an NDJSON record byte for byte, `null` for a line
 * that is not a record.
 */
export function inputMember(inputColumns: readonly string[]): (row: Row) => string {
  const keys = uniqueNames(inputColumns).map((name) => JSON.stringify(name) + ":");
  return (row) => {
    if (row.json !== null) return row.json;
    return row.fault === null ? `{${cellMembers(row, keys)}}` : "null";
  };
}

/** A format with one JSON document per row, which has the member `repute`. */
export function documentFormat(
  encoderOf: (options: EncoderOptions) => (enriched: EnrichedRow) => string,
): WritableFormat {
  return {
    extensions: [],
    write: (options) => jsonLinesEncoder(encoderOf(options)),
    split: splitLines,
    count: () => countJson(["repute"]),
    keepsReceived: () => true,
  };
}
