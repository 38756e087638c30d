import { assembleItem } from "./assemble-item.js";
import { checkCaseTimes } from "./check-times.js";
import type { Dataset, DatasetItem, DatasetTag } from "./dataset.js";
import { hasMember, readIpList } from "./ip-list.js";
import { checked, invalid, quoted, type Placed } from "./placed.js";
import * as schemas from "./record-schemas.js";

/** The parts of a dataset, each a file of records. */
export type DatasetPart =
  | "items"
  | "tags"
  | "customers"
  | "cases"
  | "contexts"
  | "webhooks"
  | "transitions";

/** The contents of a dataset before validation. */
export interface DatasetRecords extends Readonly<Record<DatasetPart, readonly Placed[]>> {
  /** Address list by tag name, one address per line. */
  readonly tagIps: (tag: string) => Placed<string> | null;
}

/**
 * Validates the records against the API schemas and against each other.
 *
 * @throws UsageError `dataset_invalid`, naming the place of the first fault
 */
export function assemble(records: DatasetRecords): Dataset {
  const items = unique(records.items, assembleItem, (entry) => entry.item.value);
  const tags = assembleTags(records, items);
  checkTagsExist(records.items, items, tags);
  const cases = unique(
    records.cases,
    (record) => {
      const entry = checked(schemas.caseRecord, record);
      checkCaseTimes(record, entry);
      return entry;
    },
    (entry) => entry.id,
  );
  const contexts = unique(
    records.contexts,
    (record) => {
      const entry = checked(schemas.contextRecord, record);
      if (!cases.has(entry.case))
        throw invalid(record, `case: ${quoted(entry.case)} is not in cases.ndjson`);
      return entry;
    },
    (entry) => entry.case,
  );
  const webhooks = unique(
    records.webhooks,
    (record) => checked(schemas.webhookRecord, record),
    (entry) => entry.name,
  );
  const transitions = records.transitions.map((record) => {
    const entry = checked(schemas.transitionRecord, record);
    if (webhooks.has(entry.webhook)) return entry;
    throw invalid(record, `webhook: ${quoted(entry.webhook)} is not in webhooks.ndjson`);
  });
  const customers = unique(
    records.customers,
    (record) => checked(schemas.customerRecord, record),
    (entry) => entry.customer_id,
  );
  return {
    items,
    tags,
    customers: [...customers.values()],
    cases,
    contexts: new Map([...contexts].map(([id, entry]) => [id, entry.context])),
    webhooks,
    transitions,
  };
}

function unique<T>(
  records: readonly Placed[],
  read: (record: Placed) => T,
  keyOf: (entry: T) => string,
): Map<string, T> {
  const entries = new Map<string, T>();
  const places = new Map<string, string>();
  for (const record of records) {
    const entry = read(record);
    const key = keyOf(entry);
    const first = places.get(key);
    if (first !== undefined) throw invalid(record, `${quoted(key)} is a duplicate of ${first}`);
    places.set(key, record.where);
    entries.set(key, entry);
  }
  return entries;
}

function assembleTags(
  records: DatasetRecords,
  items: ReadonlyMap<string, DatasetItem>,
): Map<string, DatasetTag> {
  const tagged = addressesByTag(items);
  const read = (record: Placed): DatasetTag => {
    const entry = checked(schemas.tagRecord, record);
    const file = records.tagIps(entry.tag.name);
    const lines = [...(entry.entries ?? []), ...(tagged.get(entry.tag.name) ?? [])].join("\n");
    const list = readIpList([lines, file?.value ?? ""]);
    if (!("line" in list)) {
      checkBearers(record, entry.tag.name, list, items);
      return { tag: entry.tag, list, isBorneBy: hasMember(list), lastUpdate: entry.lastUpdate };
    }
    const place = list.source === 0 || !file ? record : { where: `${file.where}:${list.line}` };
    throw invalid(place, `${quoted(list.text)} is not an IP address`);
  };
  return unique(records.tags, read, (entry) => entry.tag.name);
}

/** An address that the dataset refuses or names as a bogon bears no tags. */
function checkBearers(
  record: Placed,
  tag: string,
  list: readonly string[],
  items: ReadonlyMap<string, DatasetItem>,
): void {
  for (const address of list) {
    const entry = items.get(address);
    if (entry === undefined || ("result" in entry && entry.result.type === "IP")) continue;
    const what = "refuse" in entry ? "refused" : "IP_BOGON";
    throw invalid(
      record,
      `${quoted(address)} is on the list of ${quoted(tag)}, but ${what} in items.ndjson`,
    );
  }
}

/** The addresses that carry each tag, which are part of the tag's list. */
function addressesByTag(items: ReadonlyMap<string, DatasetItem>): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const entry of items.values()) {
    if (!("result" in entry) || entry.result.type !== "IP") continue;
    for (const tag of entry.result.tags) {
      const list = addresses.get(tag);
      if (list) list.push(entry.item.value);
      else addresses.set(tag, [entry.item.value]);
    }
  }
  return addresses;
}

function checkTagsExist(
  records: readonly Placed[],
  items: ReadonlyMap<string, DatasetItem>,
  tags: ReadonlyMap<string, DatasetTag>,
): void {
  for (const [index, entry] of [...items.values()].entries()) {
    if (!("result" in entry) || !("tags" in entry.result)) continue;
    const unknown = (entry.result.tags as readonly string[]).find((tag) => !tags.has(tag));
    const record = records[index];
    if (unknown === undefined || !record) continue;
    throw invalid(record, `result.tags: tag ${quoted(unknown)} is not in tags.ndjson`);
  }
}
