import { v5 as nameUuid } from "uuid";
import { systemClock, timestamp, parseTimestamp } from "../../../core/clock.js";
import { type EnrichedRow, type Row, nestedFacts, nestedText } from "../../../core/row.js";
import type { Accusation, Verdict } from "../../../core/finding.js";
import { accusationIn, verdictOf } from "../../../core/verdict.js";
import { linesEncoder, jsonLinesEncoder } from "../lines-encoder.js";
import type { Encoder, EncoderOptions, WritableFormat } from "../types.js";
import type { Item, ItemKind } from "../../../core/item/item.js";
import type { ColumnValue } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";
import { cellMembers, uniqueNames } from "../ndjson/ndjson.js";

/**
 * Namespace of the UUIDs below. STIX reserves its own namespace for cyber-observable objects (STIX
 * 2.1, section 2.9). Never change this: an indicator must have the same identifier in every run.
 */
const namespace = "5c8e293f-9373-4f2a-8efa-619370ae923b";

/** Object path of each kind except `ip` (STIX 2.1, sections 6 and 9). */
const paths: Readonly<Record<Exclude<ItemKind, "ip">, string>> = {
  domain: "domain-name:value",
  url: "url:value",
  sha1: "file:hashes.'SHA-1'",
  email: "email-addr:value",
  // STIX has no wallet object; this is OpenCTI's name for one.
  crypto_wallet: "cryptocurrency-wallet:value",
};

/** The pattern that matches an item (STIX 2.1, section 9). */
export function stixPattern({ kind, value }: Item): string {
  const path =
    kind === "ip" ? (value.includes(":") ? "ipv6-addr:value" : "ipv4-addr:value") : paths[kind];
  return `[${path} = '${value.replaceAll(/['\\]/g, "\\$&")}']`;
}

/** The identifier of a pattern's indicator: a UUID derived from the pattern. */
export function stixIndicatorId(pattern: string): string {
  return `indicator--${nameUuid(pattern, namespace)}`;
}

/**
 * `created` of all objects. It must be equal in all versions of an object (STIX 2.1, section 3.6),
 * and no run knows when an earlier one first wrote an indicator.
 */
const created = "2020-01-01T00:00:00.000Z";

/**
 * Producer of the objects. First in the bundle, so that `objects` is never empty (STIX 2.1, section
 * 2.12).
 */
const identity = {
  type: "identity",
  spec_version: "2.1",
  id: `identity--${nameUuid("identity repute", namespace)}`,
  created,
  modified: created,
  name: "repute",
  identity_class: "system",
};

/** Indicator types (STIX 2.1, section 10). `benign` isn't needed. */
const indicatorTypes: Readonly<Record<Accusation, string>> = {
  malicious: "malicious-activity",
  suspicious: "anomalous-activity",
  listed: "unknown",
};

/**
 * Encodes a STIX 2.1 bundle with one line per indicator. Only accused items become indicators. The
 * encoder repeats an item that occurs again and leaves out the end: `publish/stix.ts` makes the
 * bundle of what it returns.
 */
export const stix: WritableFormat = {
  extensions: [],
  write: stixEncoder,
  keepsReceived: () => false,
};

function stixEncoder({ clock = systemClock }: EncoderOptions): Encoder {
  const encodeRow = (enriched: EnrichedRow): string => {
    const { item, finding } = enriched;
    const accusation = accusationIn(verdictOf(finding));
    if (item === null || accusation === null) return "";
    const pattern = stixPattern(item);
    const { firstSeen, tags } = itemFacts(enriched);
    const lookedUp = finding.lookedUpAt === null ? clock.now() : epochMs(finding.lookedUpAt);
    const indicator = {
      type: "indicator",
      id: stixIndicatorId(pattern),
      spec_version: "2.1",
      created_by_ref: identity.id,
      created,
      modified: timestamp(Math.max(lookedUp, epochMs(created))),
      name: item.value,
      indicator_types: [indicatorTypes[accusation]],
      pattern,
      pattern_type: "stix",
      pattern_version: "2.1",
      valid_from: timestamp(firstSeen === null ? lookedUp : epochMs(firstSeen)),
      labels: tags.length === 0 ? undefined : tags,
    };
    return `,\n${JSON.stringify(indicator)}`;
  };

  return linesEncoder(encodeRow);
}

/** What begins the bundle of a run. */
export function bundleHeader(runId: string): string {
  return `{"type":"bundle","id":"bundle--${nameUuid(runId, namespace)}","objects":[\n${JSON.stringify(identity)}`;
}

export const bundleEnd = "\n]}\n";

export function encodedId(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? "";
}

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

function epochMs(dateTime: string): number {
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
    keepsReceived: () => true,
  };
}
