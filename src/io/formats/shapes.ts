import { hash } from "node:crypto";
import { v5 as nameUuid } from "uuid";
import { systemClock, parseTimestamp } from "../../core/clock.js";
import type { ColumnValue } from "../../core/column.js";
import { columns } from "../../core/columns.js";
import type { Accusation } from "../../core/finding.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { nestedFacts, nestedText } from "../../core/row.js";
import { accusationIn, verdictOf } from "../../core/verdict.js";
import { cellMembers, jsonLinesEncoder, linesEncoder, memberKeys } from "./ndjson/ndjson-output.js";
import type { Encoder, EncoderOptions, WritableFormat } from "./types.js";

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and a
 * document with all data under `repute`. The identifier depends only on the row and its number, or on
 * the item, so loading the file again, or that of another run of the same input, replaces documents
 * instead of adding some.
 */
export const esBulk: WritableFormat = {
  extensions: [],
  write: pairEncoder,
  keepsReceived: () => true,
};

function pairEncoder({
  columns,
  esAction = "index",
  esId = "row",
  clock = systemClock,
}: EncoderOptions): Encoder {
  const keys = memberKeys(columns);
  return jsonLinesEncoder(({ row, item, finding }) => {
    // A line that is not a record has no columns.
    const input = row.json ?? (row.fault === null ? `{${cellMembers(row, keys)}}` : "null");
    const identity =
      esId === "item" && item !== null
        ? `${item.kind}\n${item.value}`
        : `${row.number}\n${input}\n${row.extra ?? ""}`;
    const id = hash("sha256", identity).slice(0, 40);
    const time = finding.lookedUpAt ?? new Date(clock.now()).toISOString();
    const facts = nestedText(nestedFacts(item, finding), finding).slice(1, -1);
    // `extra` of a cell-based source is already JSON; an NDJSON record has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    const repute = `{"row":${row.number},${facts},"input":${input}${extra}}`;
    return `{"${esAction}":{"_id":"${id}"}}\n{"@timestamp":${JSON.stringify(time)},"repute":${repute}}\n`;
  });
}

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
function patternOf({ kind, value }: Item): string {
  const path =
    kind === "ip" ? (value.includes(":") ? "ipv6-addr:value" : "ipv4-addr:value") : paths[kind];
  return `[${path} = '${value.replaceAll(/['\\]/g, "\\$&")}']`;
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
 * encoder repeats an item that occurs again and leaves out the end: `output/stix/publish.ts` makes the
 * bundle of what it returns.
 */
export const stix: WritableFormat = {
  extensions: [],
  write: stixEncoder,
  keepsReceived: () => false,
};

function stixEncoder({ clock = systemClock }: EncoderOptions): Encoder {
  return linesEncoder((enriched) => {
    const { item, finding } = enriched;
    const accusation = accusationIn(verdictOf(finding));
    if (item === null || accusation === null) return "";
    const pattern = patternOf(item);
    const lookedUp = epochMs(finding.lookedUpAt) ?? clock.now();
    const tags = readers.get("tags")!(enriched);
    const indicator = {
      type: "indicator",
      id: `indicator--${nameUuid(pattern, namespace)}`,
      spec_version: "2.1",
      created_by_ref: identity.id,
      created,
      modified: new Date(Math.max(lookedUp, epochMs(created)!)).toISOString(),
      name: item.value,
      indicator_types: [indicatorTypes[accusation]],
      pattern,
      pattern_type: "stix",
      pattern_version: "2.1",
      valid_from: new Date(epochMs(readers.get("first_seen")!(enriched)) ?? lookedUp).toISOString(),
      labels: typeof tags === "object" && tags?.length ? tags : undefined,
    };
    return `,\n${JSON.stringify(indicator)}`;
  });
}

const readers = new Map(columns.map(({ name, value }) => [name, value]));

export function bundleHeader(runId: string): string {
  return `{"type":"bundle","id":"bundle--${nameUuid(runId, namespace)}","objects":[\n${JSON.stringify(identity)}`;
}

export const bundleEnd = "\n]}\n";

export function encodedId(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? "";
}

/** Milliseconds since 1970; undefined for a value that is no date-time. */
function epochMs(value: ColumnValue): number | undefined {
  const micros = typeof value === "string" ? parseTimestamp(value) : null;
  return micros === null ? undefined : Number(micros / 1000n);
}
