import { systemClock } from "../../core/clock.js";
import {
  type Accusation,
  accusationIn,
  type FindingStatus,
  verdictOf,
} from "../../core/finding.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { programInfo } from "../../core/program.js";
import type { EnrichedRow } from "../../core/row.js";
import { epochMs, itemFacts, reputeMember, documentFormat } from "./item-facts.js";
import { stixIndicatorId, stixPattern } from "./stix.js";

/**
 * Version of the Open Cybersecurity Schema Framework. Versions 1.7 and 1.8 contain everything used
 * here.
 */
const ocsfVersion = "1.6.0";

/** Class OSINT Inventory Info of category Discovery, activity Collect. */
const classification = {
  activity_id: 2,
  activity_name: "Collect",
  category_uid: 5,
  category_name: "Discovery",
  class_uid: 5021,
  class_name: "OSINT Inventory Info",
  type_uid: 502_102,
  type_name: "OSINT Inventory Info: Collect",
  // The service doesn't rate severity.
  severity_id: 0,
  severity: "Unknown",
};

const statuses: Readonly<Record<FindingStatus, readonly [id: number, name: string]>> = {
  complete: [1, "Success"],
  partial: [99, "Partial"],
  invalid: [2, "Failure"],
  failed: [2, "Failure"],
  unsupported: [99, "Unsupported"],
};

interface KindNames {
  readonly type: readonly [id: number, name: string];
  readonly observable: readonly [id: number, name: string] | null;
}

const kinds: Readonly<Record<ItemKind, KindNames>> = {
  ip: { type: [1, "IP Address"], observable: [2, "IP Address"] },
  domain: { type: [2, "Domain"], observable: [1, "Hostname"] },
  url: { type: [5, "URL"], observable: [6, "URL String"] },
  sha1: { type: [4, "Hash"], observable: [8, "Hash"] },
  email: { type: [9, "Email Address"], observable: [5, "Email Address"] },
  crypto_wallet: { type: [99, "Cryptocurrency Wallet"], observable: null },
};

/** Scores of the reputation object. Unknown items get none rather than a safe one. */
const scores: Readonly<Record<Accusation, readonly [id: number, name: string]>> = {
  malicious: [10, "Malicious"],
  suspicious: [7, "Suspicious/Risky"],
  listed: [7, "Suspicious/Risky"],
};

/**
 * Writes one OCSF event of class OSINT Inventory Info per row. Data without a place in that class
 * is under `unmapped.repute`.
 */
export const ocsf = documentFormat(["unmapped", "repute"], ({ columns, clock = systemClock }) => {
  const { name, version } = programInfo();
  const metadata = { version: ocsfVersion, product: { name, version } };
  // Identical in every event, so serialized once.
  const constant = JSON.stringify({ ...classification, metadata }).slice(0, -1);
  const describe = reputeMember(columns);

  return (enriched) => {
    const { row, item, finding } = enriched;
    const verdict = verdictOf(finding);
    const [statusId, status] = statuses[finding.status];
    const event = JSON.stringify({
      time: finding.lookedUpAt === null ? clock.now() : epochMs(finding.lookedUpAt),
      status_id: statusId,
      status,
      status_code: finding.error?.code,
      status_detail: finding.error?.message,
      osint: [
        item === null
          ? { type_id: 0, type: "Unknown", value: row.itemText }
          : osintOf(item, enriched, accusationIn(verdict)),
      ],
      observables: item === null ? undefined : observablesOf(item),
    });
    return `${constant},${event.slice(1, -1)},"unmapped":{"repute":${describe(enriched, verdict)}}}\n`;
  };
});

function osintOf(item: Item, enriched: EnrichedRow, accusation: Accusation | null): object {
  const { firstSeen, tags, asNumber, asName, reverseDns } = itemFacts(enriched);
  const [typeId, type] = kinds[item.kind].type;
  const osint = {
    type_id: typeId,
    type,
    value: item.value,
    created_time: firstSeen === null ? undefined : epochMs(firstSeen),
    labels: tags.length === 0 ? undefined : tags,
    autonomous_system:
      asNumber === null && asName === null
        ? undefined
        : { number: asNumber ?? undefined, name: asName ?? undefined },
    answers:
      reverseDns.length === 0
        ? undefined
        : reverseDns.map((rdata) => ({ type: "PTR", class: "IN", rdata })),
  };
  return accusation === null ? osint : Object.assign(osint, indicationOf(item, accusation));
}

function indicationOf(item: Item, accusation: Accusation): object {
  const pattern = stixPattern(item);
  const [scoreId, score] = scores[accusation];
  return {
    uid: stixIndicatorId(pattern),
    detection_pattern: pattern,
    detection_pattern_type_id: 1,
    detection_pattern_type: "STIX",
    // Required by OCSF; the service doesn't rate it.
    reputation: { score_id: scoreId, score, base_score: scoreId },
  };
}

function observablesOf({ kind, value }: Item): readonly object[] | undefined {
  const { observable } = kinds[kind];
  if (observable === null) return undefined;
  return [{ name: "osint[0].value", type_id: observable[0], type: observable[1], value }];
}
