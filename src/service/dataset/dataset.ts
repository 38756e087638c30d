import type { z } from "zod";
import { camelCase } from "../../api/endpoints.js";
import type { CaseContext, Customer, RepShareCase } from "../../api/schema/operations.js";
import type { QueryResult } from "../../api/schema/query-result.js";
import type { Tag } from "../../api/schema/tag.js";
import type { caseStates } from "../../api/schema/vocabulary.js";
import { UsageError } from "../../core/errors.js";
import { eachEndpoint, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { hasMember, readIpList } from "./ip-list.js";
import * as records from "./records.js";

/** The data that the embedded service answers from. Load it with `loadDataset`. */
export interface Dataset {
  /** By normal form of the item. */
  readonly items: ReadonlyMap<string, ListedItem | RefusedItem>;
  readonly tags: ReadonlyMap<string, DatasetTag>;
  readonly customers: readonly Customer[];
  /** By case `id`. */
  readonly cases: ReadonlyMap<string, RepShareCase>;
  /** By case `id`. */
  readonly contexts: ReadonlyMap<string, CaseContext>;
  readonly webhooks: ReadonlyMap<string, DatasetWebhook>;
  readonly transitions: readonly PlaybookTransition[];
}

/** What is known of an item. */
export interface ListedItem {
  readonly item: Item;
  readonly result: QueryResult;
  /** Answers given instead of those derived from `result`. */
  readonly answers: { readonly [endpoint in LookupEndpoint]?: object | undefined };
  readonly partial: records.PartialScript | null;
}

/** An item that the service answers with 400. */
interface RefusedItem {
  readonly item: Item;
  /** The message in `errors.$`. */
  readonly refuse: string;
}

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** Whether an address bears the tag; true for all of `list`. */
  readonly isBorneBy: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

export type CaseState = (typeof caseStates)[number];

export type DatasetWebhook = Readonly<z.output<typeof records.webhookRecord>>;

/** A state change of a case that fires a webhook. */
export type PlaybookTransition = Readonly<z.output<typeof records.transitionRecord>>;

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
interface DatasetRecords extends Readonly<Record<DatasetPart, readonly Placed[]>> {
  /** Address list by tag name, one address per line. */
  readonly tagIps: (tag: string) => Placed<string> | null;
}

/**
 * Validates the records against the API schemas and their references to each other.
 *
 * @throws UsageError `dataset_invalid`, naming the place of the first fault
 */
export function assemble(parts: DatasetRecords): Dataset {
  const placedItems = byKey(parts.items.map(readItem), ({ item }) => item.value);
  const items = valuesOf(placedItems);
  const tagRecords = byKey(read(records.tagRecord, parts.tags), ({ tag }) => tag.name);
  const tagged = addressesByTag(items);
  const tags = new Map(
    Array.from(tagRecords, ([name, record]) => [
      name,
      tagOf(record, tagged.get(name) ?? [], parts.tagIps(name)),
    ]),
  );
  for (const { value, where } of placedItems.values()) {
    for (const tag of tagsOf(value)) mustExist(tags, tag, where, "result.tags", "tags.ndjson");
  }
  const cases = valuesOf(byKey(read(records.caseRecord, parts.cases), ({ id }) => id));
  const contexts = byKey(read(records.contextRecord, parts.contexts), (entry) => entry.case);
  for (const [id, { where }] of contexts) mustExist(cases, id, where, "case", "cases.ndjson");
  const webhooks = valuesOf(byKey(read(records.webhookRecord, parts.webhooks), ({ name }) => name));
  const transitions = read(records.transitionRecord, parts.transitions);
  for (const { value, where } of transitions) {
    mustExist(webhooks, value.webhook, where, "webhook", "webhooks.ndjson");
  }
  const customers = byKey(read(records.customerRecord, parts.customers), (one) => one.customer_id);
  return {
    items,
    tags,
    customers: [...valuesOf(customers).values()],
    cases,
    contexts: new Map(Array.from(contexts, ([id, { value }]) => [id, value.context])),
    webhooks,
    transitions: transitions.map(({ value }) => value),
  };
}

export function invalid(where: string, what: string): UsageError {
  return new UsageError("dataset_invalid", `${where}: ${what}`, {
    hint: "see samples/dataset/README.md for the files of a dataset",
  });
}

/** Checks a value and keeps it as written: zod would change the order of its members. */
function checked<S extends z.ZodType>(schema: S, { value, where }: Placed): z.input<S> {
  const { error } = schema.safeParse(value);
  if (error) throw invalid(where, records.firstIssue(error));
  return value as z.input<S>;
}

function read<S extends z.ZodType>(schema: S, values: readonly Placed[]): Placed<z.input<S>>[] {
  return values.map((placed) => ({ ...placed, value: checked(schema, placed) }));
}

function readItem(placed: Placed): Placed<ListedItem | RefusedItem> {
  const { value, where } = placed;
  if (typeof value === "object" && value !== null && "refuse" in value) {
    const { item, refuse } = checked(records.refusedItem, placed);
    return { value: { item: normalItem(item, where), refuse }, where };
  }
  const { result, partial = null, ...others } = checked(records.listedItem, placed);
  const results = others as Readonly<Record<string, object | undefined>>;
  const answers = eachEndpoint((endpoint) => results[camelCase(endpoint)]);
  return { value: { item: normalItem(result.item, where), result, answers, partial }, where };
}

/** @throws UsageError if the text is not the normal form of an item */
function normalItem(text: string, where: string): Item {
  const { item, reason } = recogniseItem(text);
  if (item?.value === text) return item;
  const shown = JSON.stringify(text.slice(0, 100));
  const why = item ? `write it in its normal form, ${JSON.stringify(item.value)}` : reason.message;
  throw invalid(where, `item: ${shown}: ${why}`);
}

function byKey<T>(
  values: readonly Placed<T>[],
  keyOf: (entry: T) => string,
): Map<string, Placed<T>> {
  const entries = new Map<string, Placed<T>>();
  for (const placed of values) {
    const key = keyOf(placed.value);
    const first = entries.get(key);
    if (first) throw invalid(placed.where, `"${key}" is a duplicate of ${first.where}`);
    entries.set(key, placed);
  }
  return entries;
}

function valuesOf<T>(placed: ReadonlyMap<string, Placed<T>>): Map<string, T> {
  return new Map(Array.from(placed, ([key, { value }]) => [key, value]));
}

function mustExist(
  known: ReadonlyMap<string, unknown>,
  key: string,
  where: string,
  member: string,
  file: string,
): void {
  if (!known.has(key)) throw invalid(where, `${member}: "${key}" is not in ${file}`);
}

function tagsOf(entry: ListedItem | RefusedItem): readonly string[] {
  if (!("result" in entry) || !("tags" in entry.result)) return [];
  return (entry.result.tags ?? []) as readonly string[];
}

/** @param tagged the items that carry the tag */
function tagOf(
  { value: { tag, entries = [], lastUpdate }, where }: Placed<z.input<typeof records.tagRecord>>,
  tagged: readonly string[],
  file: Placed<string> | null,
): DatasetTag {
  const own = [...entries, ...tagged].join("\n");
  const list = readIpList(`${own}\n${file?.value ?? ""}`);
  if ("line" in list) {
    const inFile = list.line - own.split("\n").length;
    const place = file && inFile > 0 ? `${file.where}:${inFile}` : where;
    throw invalid(place, `${JSON.stringify(list.text)} is not an IP address`);
  }
  return { tag, list, isBorneBy: hasMember(list), lastUpdate };
}

/** The addresses that carry each tag, which are part of the tag's list. */
function addressesByTag(items: Dataset["items"]): Map<string, string[]> {
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
