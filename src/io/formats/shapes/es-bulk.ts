import { hash } from "node:crypto";
import { systemClock, timestamp } from "../../../core/clock.js";
import type { Verdict } from "../../../core/finding.js";
import type { Item, ItemKind } from "../../../core/item/item.js";
import { type EnrichedRow, nestedFacts, nestedText } from "../../../core/row.js";
import { accusationIn, verdictOf } from "../../../core/verdict.js";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { cellMembers, memberKeys } from "../ndjson/ndjson-output.js";
import type { EncoderOptions, WritableFormat } from "../types.js";
import { itemFacts, stixIndicatorId, stixPattern } from "./stix.js";

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and a
 * document of the Elastic Common Schema, with all data under `repute`. The identifier depends only on
 * the row and its number, or on the item, so loading the file again, or that of another run of the
 * same input, replaces documents instead of adding some.
 */
export const esBulk: WritableFormat = {
  extensions: [],
  write: (options) => jsonLinesEncoder(pairWriter(options)),
  keepsReceived: () => true,
};

function pairWriter({
  columns,
  esAction = "index",
  esId = "row",
  clock = systemClock,
}: EncoderOptions): (enriched: EnrichedRow) => string {
  const keys = memberKeys(columns);
  return (enriched) => {
    const { row, item, finding } = enriched;
    const verdict = verdictOf(finding);
    // A line that is not a record has no columns, and a row without an item is identified by its number.
    const input = row.json ?? (row.fault === null ? `{${cellMembers(row, keys)}}` : "null");
    const identity =
      esId === "item" && item !== null
        ? `${item.kind}\n${item.value}`
        : `${row.number}\n${input}\n${row.extra ?? ""}`;
    const id = hash("sha256", identity).slice(0, 40);
    const document = JSON.stringify(
      documentOf(enriched, verdict, finding.lookedUpAt ?? timestamp(clock.now())),
    );
    const facts = nestedText(nestedFacts(item, finding, verdict), finding);
    // `extra` of a cell-based source is already JSON; an NDJSON record has all its members.
    const extra = row.json === null && row.extra !== null ? `,"extra":${row.extra}` : "";
    const repute = `{"row":${row.number},${facts.slice(1, -1)},"input":${input}${extra}}`;
    return `{"${esAction}":{"_id":"${id}"}}\n${document.slice(0, -1)},"repute":${repute}}\n`;
  };
}

const outcomes = {
  complete: "success",
  partial: "success",
  invalid: "failure",
  failed: "failure",
  unsupported: undefined,
} as const;

/**
 * The members of ECS. Accused items get `threat.indicator`, the field that indicator match rules query;
 * unknown and benign items get none, so that no rule treats them as threats.
 */
function documentOf(enriched: EnrichedRow, verdict: Verdict | null, time: string): object {
  const { item, finding } = enriched;
  const isIndicator = item !== null && accusationIn(verdict) !== null;
  const [observable = {}, related] = item === null ? [] : fieldsOf[item.kind](item.value);
  // `undefined` members are dropped; adding them conditionally with spread is far slower.
  return {
    "@timestamp": time,
    ecs: { version: "9.4.0" },
    event: {
      kind: "enrichment",
      category: isIndicator ? ["threat"] : undefined,
      type: isIndicator ? ["indicator"] : undefined,
      module: "repute",
      dataset: "repute.lookup",
      outcome: outcomes[finding.status],
    },
    tags: itemFacts(enriched).tags,
    error: finding.error ?? undefined,
    related,
    threat: isIndicator ? { indicator: indicatorOf(enriched, item, observable) } : undefined,
  };
}

function indicatorOf(enriched: EnrichedRow, item: Item, observable: object): object {
  const { read, firstSeen, lastSeen } = itemFacts(enriched);
  const [, number] = /^AS(\d{1,10})$/.exec(String(read("asn"))) ?? [];
  const name = read("as_name") || undefined;
  const counts = [read("honeypot_observations"), read("spamtrap_observations")].filter(
    (count) => typeof count === "number",
  );
  return {
    ...observable,
    id: [stixIndicatorId(stixPattern(item))],
    name: item.value,
    // The service doesn't rate confidence.
    confidence: "Not Specified",
    first_seen: firstSeen,
    last_seen: lastSeen,
    sightings: counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0),
    as:
      number === undefined && name === undefined
        ? undefined
        : { number: number && Number(number), organization: name && { name } },
  };
}

/**
 * What a document has of an item: the fields of an indicator, and those of `related` for correlation
 * with other events.
 */
const fieldsOf: Readonly<
  Record<ItemKind, (value: string) => readonly [object, (object | undefined)?]>
> = {
  ip: (ip) => [{ type: ip.includes(":") ? "ipv6-addr" : "ipv4-addr", ip }, { ip: [ip] }],
  domain: (domain) => [{ type: "domain-name", url: { domain } }, { hosts: [domain] }],
  url(full) {
    if (!URL.canParse(full)) return [{ type: "url", url: { full } }];
    const { protocol, hostname, port, pathname, search, hash } = new URL(full);
    const domain = hostname.replace(/^\[(.*)\]$/, "$1");
    const url = {
      full,
      scheme: protocol.slice(0, -1),
      domain,
      port: port === "" ? undefined : Number(port),
      path: pathname,
      query: search.slice(1) || undefined,
      fragment: hash.slice(1) || undefined,
    };
    return [{ type: "url", url }, { hosts: [domain] }];
  },
  sha1: (sha1) => [{ type: "file", file: { hash: { sha1 } } }, { hash: [sha1] }],
  email: (address) => [{ type: "email-addr", email: { address } }],
  crypto_wallet: () => [{ type: "cryptocurrency-wallet" }],
};
