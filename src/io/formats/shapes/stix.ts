import { randomUUID } from "node:crypto";
import { v5 as nameUuid } from "uuid";
import { systemClock, timestamp } from "../../../core/clock.js";
import type { EnrichedRow } from "../../../core/row.js";
import { type Accusation, type JsonObject } from "../../../core/finding.js";
import { accusationIn, verdictOf } from "../../../core/verdict.js";
import { asObject, readJson } from "../../../core/json-members.js";
import { linesEncoder } from "../lines-encoder.js";
import { splitLines } from "../record-splitter.js";
import type { Encoder, EncoderOptions, RecordCounter, WritableFormat } from "../types.js";
import { epochMs, itemFacts } from "./item-facts.js";
import { FatalError } from "../../../core/errors.js";
import type { Item, ItemKind } from "../../../core/item/item.js";

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
  split: splitLines,
  count: countIndicators,
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

  return {
    ...linesEncoder(encodeRow),
    header: `{"type":"bundle","id":"bundle--${randomUUID()}","objects":[\n${JSON.stringify(identity)}`,
  };
}

export const bundleEnd = "\n]}\n";

export function encodedId(text: string): string {
  return /"id":"([^"]+)"/.exec(text)?.[1] ?? "";
}

const idPattern = /^indicator--([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Counts the indicators of a STIX bundle and validates it: a head, an identity, one indicator with
 * a unique identifier per line, commas between them, an end.
 */
function countIndicators(): RecordCounter {
  const ids = new Set<string>();
  let number = 0;
  let comma = true;
  let ended = false;
  const isInPlace = (line: string): boolean => {
    if (number === 1) return isBundle(parsed(`${line}]}`));
    if (line === "]}") {
      ended = true;
      return !comma && number > 2;
    }
    if (!comma) return false;
    comma = line.endsWith(",");
    const object = parsed(comma ? line.slice(0, -1) : line);
    if (number === 2) return object["type"] === "identity";
    const [, uuid] = idPattern.exec(String(object["id"])) ?? [];
    if (object["type"] !== "indicator" || uuid === undefined || ids.has(uuid)) return false;
    ids.add(uuid);
    return true;
  };
  return {
    add(record) {
      number += 1;
      if (!ended && isInPlace(record.toString().slice(0, -1))) return;
      const message = `line ${number} of the output is not valid in a STIX bundle of repute`;
      throw new FatalError("output_corrupt", message);
    },
    counted() {
      if (ended) return { rows: null, statuses: null, verdicts: null, indicators: ids.size };
      throw new FatalError("output_corrupt", "the output is a STIX bundle without its last line");
    },
  };
}

function isBundle(value: JsonObject): boolean {
  return value["type"] === "bundle" && Array.isArray(value["objects"]);
}

/** A line's object; an empty one if it isn't an object. */
function parsed(line: string): JsonObject {
  return asObject(readJson(Buffer.from(line)).value) ?? {};
}
