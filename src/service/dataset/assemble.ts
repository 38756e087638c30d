import type { z } from "zod";
import { UsageError } from "../../core/errors.js";
import type { Dataset, DatasetItem, DatasetTag } from "./dataset.js";
import { hasMember, readIpList } from "./ip-list.js";
import {
  caseRecord,
  contextRecord,
  customerRecord,
  firstIssue,
  itemRecord,
  quoted,
  tagRecord,
  transitionRecord,
  webhookRecord,
} from "./records.js";

/** A value of the dataset and its place, such as `items.ndjson:4`. */
export interface Placed<T = unknown> {
  readonly value: T;
  readonly where: string;
}

/** The files of a dataset, each with records of one kind. */
export const recordFiles = {
  items: "items.ndjson",
  tags: "tags.ndjson",
  customers: "customers.ndjson",
  cases: "cases.ndjson",
  contexts: "contexts.ndjson",
  webhooks: "webhooks.ndjson",
  transitions: "transitions.ndjson",
} as const;

export type DatasetPart = keyof typeof recordFiles;

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
  const items = byKey(read(itemRecord, records.items), ({ item }) => item.value);
  const tagRecords = byKey(read(tagRecord, records.tags), ({ tag }) => tag.name);
  const plainItems = valuesOf(items);
  const tagged = addressesByTag(plainItems);
  const tags = new Map(
    Array.from(tagRecords, ([name, record]) => [
      name,
      tagOf(record, tagged.get(name) ?? [], records.tagIps(name), plainItems),
    ]),
  );
  for (const { value, where } of items.values()) {
    if (!("result" in value) || !("tags" in value.result)) continue;
    for (const tag of (value.result.tags ?? []) as readonly string[]) {
      assertKnown(tags, tag, where, `result.tags: tag ${quoted(tag)} is not in tags.ndjson`);
    }
  }
  const cases = valuesOf(byKey(read(caseRecord, records.cases), ({ id }) => id));
  const contexts = byKey(read(contextRecord, records.contexts), (entry) => entry.case);
  for (const [id, { where }] of contexts) {
    assertKnown(cases, id, where, `case: ${quoted(id)} is not in cases.ndjson`);
  }
  const webhooks = valuesOf(byKey(read(webhookRecord, records.webhooks), ({ name }) => name));
  const transitions = read(transitionRecord, records.transitions);
  for (const { value, where } of transitions) {
    const what = `webhook: ${quoted(value.webhook)} is not in webhooks.ndjson`;
    assertKnown(webhooks, value.webhook, where, what);
  }
  const customers = byKey(read(customerRecord, records.customers), (entry) => entry.customer_id);
  return {
    items: plainItems,
    tags,
    customers: [...valuesOf(customers).values()],
    cases,
    contexts: new Map(Array.from(contexts, ([id, { value }]) => [id, value.context])),
    webhooks,
    transitions: transitions.map(({ value }) => value),
  };
}

/** A fault of a dataset and its place. */
export function invalid(where: string, what: string): UsageError {
  return new UsageError("dataset_invalid", `${where}: ${what}`, {
    hint: "see samples/dataset/README.md for the files of a dataset",
  });
}

function read<S extends z.ZodType>(
  schema: S,
  records: readonly Placed[],
): readonly Placed<z.output<S>>[] {
  return records.map(({ value, where }) => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) throw invalid(where, firstIssue(parsed.error));
    return { value: parsed.data, where };
  });
}

function byKey<T>(
  records: readonly Placed<T>[],
  keyOf: (entry: T) => string,
): Map<string, Placed<T>> {
  const entries = new Map<string, Placed<T>>();
  for (const record of records) {
    const key = keyOf(record.value);
    const first = entries.get(key);
    if (first) throw invalid(record.where, `${quoted(key)} is a duplicate of ${first.where}`);
    entries.set(key, record);
  }
  return entries;
}

function valuesOf<T>(records: ReadonlyMap<string, Placed<T>>): Map<string, T> {
  return new Map(Array.from(records, ([key, { value }]) => [key, value]));
}

function assertKnown(
  known: ReadonlyMap<string, unknown>,
  key: string,
  where: string,
  what: string,
): void {
  if (!known.has(key)) throw invalid(where, what);
}

/** @param tagged the items that carry the tag */
function tagOf(
  { value: { tag, entries, lastUpdate }, where }: Placed<z.output<typeof tagRecord>>,
  tagged: readonly string[],
  file: Placed<string> | null,
  items: ReadonlyMap<string, DatasetItem>,
): DatasetTag {
  const list = readIpList([[...entries, ...tagged].join("\n"), file?.value ?? ""]);
  if ("line" in list) {
    const place = list.source === 0 || !file ? where : `${file.where}:${list.line}`;
    throw invalid(place, `${quoted(list.text)} is not an IP address`);
  }
  for (const address of list) {
    const entry = items.get(address);
    if (entry === undefined || ("result" in entry && entry.result.type === "IP")) continue;
    // An address that the dataset refuses or names as a bogon bears no tags.
    const what = "refuse" in entry ? "refused" : "IP_BOGON";
    throw invalid(
      where,
      `${quoted(address)} is on the list of ${quoted(tag.name)}, but ${what} in items.ndjson`,
    );
  }
  return { tag, list, isBorneBy: hasMember(list), lastUpdate };
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
