import { systemClock, timestamp } from "../../../core/clock.js";
import type { Item, ItemKind } from "../../../core/item/item.js";
import type { EnrichedRow } from "../../../core/row.js";
import { accusationIn, verdictOf } from "../../../core/verdict.js";
import type { EncoderOptions } from "../types.js";
import {
  itemFacts,
  type ItemFacts,
  reputeMember,
  inputMember,
  documentFormat,
  stixIndicatorId,
  stixPattern,
} from "./stix.js";
import { hash } from "node:crypto";

const ecsVersion = "9.4.0";

const outcomes = {
  complete: "success",
  partial: "success",
  invalid: "failure",
  failed: "failure",
  unsupported: undefined,
} as const;

/**
 * Writes one Elastic Common Schema document per row. Accused items get `threat.indicator`, the
 * field that indicator match rules query; unknown and benign items get none, so that no rule treats
 * them as threats. All data is under `repute`.
 */
export const ecs = documentFormat(ecsDocuments);

function ecsDocuments(options: EncoderOptions): (enriched: EnrichedRow) => string {
  const { columns, clock = systemClock } = options;
  const describe = reputeMember(columns);

  return (enriched) => {
    const { item, finding } = enriched;
    const verdict = verdictOf(finding);
    const isIndicator = item !== null && accusationIn(verdict) !== null;
    const facts = itemFacts(enriched);
    const [observable = {}, related] = item === null ? [] : fieldsOf[item.kind](item.value);
    // `undefined` members are dropped; adding them conditionally with spread is far slower.
    const document = JSON.stringify({
      "@timestamp": finding.lookedUpAt ?? timestamp(clock.now()),
      ecs: { version: ecsVersion },
      event: {
        kind: "enrichment",
        category: isIndicator ? ["threat"] : undefined,
        type: isIndicator ? ["indicator"] : undefined,
        module: "repute",
        dataset: "repute.lookup",
        outcome: outcomes[finding.status],
      },
      tags: facts.tags.length > 0 ? facts.tags : undefined,
      error: finding.error ?? undefined,
      related,
      threat: isIndicator ? { indicator: indicatorOf(item, observable, facts) } : undefined,
    });
    return `${document.slice(0, -1)},"repute":${describe(enriched, verdict)}}\n`;
  };
}

function indicatorOf(item: Item, observable: object, facts: ItemFacts): object {
  const { firstSeen, lastSeen, asNumber, asName, observations } = facts;
  const system = asNumber !== null || asName !== null;
  return Object.assign(observable, {
    id: [stixIndicatorId(stixPattern(item))],
    name: item.value,
    // The service doesn't rate confidence.
    confidence: "Not Specified",
    first_seen: firstSeen ?? undefined,
    last_seen: lastSeen ?? undefined,
    sightings: observations ?? undefined,
    as: system
      ? {
          number: asNumber ?? undefined,
          organization: asName === null ? undefined : { name: asName },
        }
      : undefined,
  });
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
  url(value) {
    const hosts = URL.canParse(value) ? { hosts: [bareHost(new URL(value).hostname)] } : undefined;
    return [{ type: "url", url: urlOf(value) }, hosts];
  },
  sha1: (sha1) => [{ type: "file", file: { hash: { sha1 } } }, { hash: [sha1] }],
  email: (address) => [{ type: "email-addr", email: { address } }],
  crypto_wallet: () => [{ type: "cryptocurrency-wallet" }],
};

function urlOf(value: string): Record<string, unknown> {
  if (!URL.canParse(value)) return { full: value };
  const { protocol, hostname, port, pathname, search, hash } = new URL(value);
  return {
    full: value,
    scheme: protocol.slice(0, -1),
    domain: bareHost(hostname),
    port: port === "" ? undefined : Number(port),
    path: pathname,
    query: search.slice(1) || undefined,
    fragment: hash.slice(1) || undefined,
  };
}

function bareHost(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/**
 * Writes the body of Elasticsearch's and OpenSearch's `_bulk` request: per row an action line and
 * an ECS document. The identifier depends only on the row and its number, or on the item, so loading
 * the file again, or that of another run of the same input, replaces documents instead of adding some.
 */
export const esBulk = documentFormat(pairsOf);

function pairsOf(options: EncoderOptions): (enriched: EnrichedRow) => string {
  const document = ecsDocuments(options);
  const input = inputMember(options.columns);
  const { esAction = "index", esId = "row" } = options;
  const start = `{"${esAction}":{"_id":"`;
  const identity = ({ row, item }: EnrichedRow): string =>
    // A row without an item is identified by its number; a line that is not a record has no columns.
    esId === "item" && item !== null
      ? `${item.kind}\n${item.value}`
      : `${row.number}\n${input(row)}\n${row.extra ?? ""}`;
  return (enriched) => {
    const id = hash("sha256", identity(enriched)).slice(0, 40);
    return `${start}${id}"}}\n${document(enriched)}`;
  };
}
