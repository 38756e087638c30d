import type { z } from "zod";
import type { CaseContext, Customer, RepShareCase } from "../../api/schema/operations.js";
import type { Tag } from "../../api/schema/tag.js";
import type { caseStates } from "../../api/schema/vocabulary.js";
import {
  type ListedItem,
  type RefusedItem,
  transitionRecord,
  webhookRecord,
  caseRecord,
  contextRecord,
  customerRecord,
  firstIssue,
  itemRecord,
  quoted,
  tagRecord,
} from "./records.js";
import { UsageError } from "../../core/errors.js";
import { isIPv4 } from "node:net";
import { readIpv6 } from "../../core/item/ip.js";

/** The data that the embedded service answers from. Load it with `loadDataset`. */
export interface Dataset {
  /** By normal form of the item. */
  readonly items: ReadonlyMap<string, DatasetItem>;
  readonly tags: ReadonlyMap<string, DatasetTag>;
  readonly customers: readonly Customer[];
  /** By case `id`. */
  readonly cases: ReadonlyMap<string, RepShareCase>;
  /** By case `id`. */
  readonly contexts: ReadonlyMap<string, CaseContext>;
  readonly webhooks: ReadonlyMap<string, DatasetWebhook>;
  readonly transitions: readonly PlaybookTransition[];
}

type DatasetItem = ListedItem | RefusedItem;

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** Whether an address bears the tag; true for all of `list`. */
  readonly isBorneBy: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

export type CaseState = (typeof caseStates)[number];

export type DatasetWebhook = Readonly<z.output<typeof webhookRecord>>;

/** A state change of a case that fires a webhook. */
export type PlaybookTransition = Readonly<z.output<typeof transitionRecord>>;

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

/** A line that is not an IP address. */
export interface IpListFault {
  /** Index of the text. */
  readonly source: number;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/** Tests addresses for membership in a list. Builds its index at the first test. */
export function hasMember(list: readonly string[]): (address: string) => boolean {
  let members: ReadonlySet<string> | undefined;
  return (address) => (members ??= new Set(list)).has(address);
}

/**
 * Parses texts with one address per line. Ignores blank lines and lines that start with `#`.
 *
 * @returns the distinct addresses, IPv4 before IPv6, otherwise in order of appearance; or the first
 *   invalid line
 */
export function readIpList(sources: readonly string[]): readonly string[] | IpListFault {
  const v4 = new Set<string>();
  const v6 = new Set<string>();
  for (const [source, text] of sources.entries()) {
    for (const [index, line] of text.split("\n").entries()) {
      const entry = line.trim();
      if (entry === "" || entry.startsWith("#")) continue;
      const address = readIpv6(entry);
      if (isIPv4(entry)) v4.add(entry);
      else if (address !== null) v6.add(address);
      else return { source, line: index + 1, text: entry };
    }
  }
  return [...v4, ...v6];
}
