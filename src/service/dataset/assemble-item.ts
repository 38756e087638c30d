import { camelCase } from "../../api/endpoints.js";
import { partialResultSchema, type QueryResult } from "../../api/schema/query-result.js";
import type { ResultType } from "../../api/schema/vocabulary.js";
import { eachEndpoint } from "../../core/finding.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { checkTimes } from "./check-times.js";
import type { DatasetItem, PartialScript } from "./dataset.js";
import { checked, invalid, type Placed, quoted } from "./placed.js";
import { listedItemRecord, refusedItemRecord } from "./record-schemas.js";

/**
 * Validates a line of `items.ndjson`.
 *
 * @throws UsageError `dataset_invalid`
 */
export function assembleItem(record: Placed): DatasetItem {
  const { value } = record;
  if (typeof value === "object" && value !== null && "refuse" in value) {
    const { item, refuse } = checked(refusedItemRecord, record);
    return { item: itemAt(record, "item", item), refuse };
  }
  const entry = checked(listedItemRecord, record);
  const item = itemAt(record, "result.item", entry.result.item);
  if (kindOfType[entry.result.type] !== item.kind) {
    throw invalid(record, `result.type: ${entry.result.type} is not a type of ${item.kind} items`);
  }
  checkTimes(record, entry.result);
  const script = entry.partial;
  const partial = script ? { missing: script.missing, forever: script.forever ?? false } : null;
  if (partial) checkScript(record, entry.result, partial);
  const results = entry as Readonly<Record<string, object | undefined>>;
  const answers = eachEndpoint((endpoint) => results[camelCase(endpoint)]);
  return { item, result: entry.result, answers, partial };
}

/** A partial result: the same, with the missing members null. */
export function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}

const kindOfType: Readonly<Record<ResultType, ItemKind>> = {
  IP: "ip",
  IP_BOGON: "ip",
  DOMAIN: "domain",
  URL: "url",
  SHA1: "sha1",
  CRYPTO_WALLET: "crypto_wallet",
  EMAIL: "email",
};

function itemAt(record: Placed, member: string, text: string): Item {
  const { item, reason } = recogniseItem(text);
  if (item === null) throw invalid(record, `${member}: ${quoted(text)}: ${reason.message}`);
  if (item.value === text) return item;
  throw invalid(
    record,
    `${member}: write ${quoted(text)} in its normal form, ${quoted(item.value)}`,
  );
}

function checkScript(record: Placed, result: QueryResult, script: PartialScript): void {
  for (const missing of script.missing) {
    const member = missing.find(
      (name) =>
        !(name in result) || !partialResultSchema.safeParse(withMissing(result, [name])).success,
    );
    if (member === undefined) continue;
    const what = `${quoted(member)} cannot be missing in a partial ${result.type} result`;
    throw invalid(record, `partial.missing: ${what}`);
  }
}
