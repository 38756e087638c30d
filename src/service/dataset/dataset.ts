import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { z } from "zod";
import type { CaseContext, Customer, RepShareCase } from "../../client/api/schema/operations.js";
import type { Tag } from "../../client/api/schema/tag.js";
import { UsageError } from "../../core/errors.js";
import {
  type DatasetRecord,
  firstIssue,
  hasMember,
  quoted,
  readIpList,
  records,
} from "./records.js";

/** The data that the embedded service answers from. */
export interface Dataset {
  /** By normal form of the item. */
  readonly items: ReadonlyMap<string, DatasetRecord<"items">>;
  readonly tags: ReadonlyMap<string, DatasetTag>;
  readonly customers: readonly Customer[];
  /** By case `id`. */
  readonly cases: ReadonlyMap<string, RepShareCase>;
  /** By case `id`. */
  readonly contexts: ReadonlyMap<string, CaseContext>;
  readonly webhooks: ReadonlyMap<string, DatasetRecord<"webhooks">>;
  readonly transitions: readonly DatasetRecord<"transitions">[];
}

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** Whether an address bears the tag; true for all of `list`. */
  readonly isBorneBy: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

/** A value of the dataset and its place, such as `items.ndjson:4`. */
export interface Placed<T = unknown> {
  readonly value: T;
  readonly where: string;
}

/** Readers of the files `<part>.ndjson`, by what tells the lines of each apart. */
const readers = {
  items: reader(records.items, ({ item }) => item.value),
  tags: reader(records.tags, ({ tag }) => tag.name),
  customers: reader(records.customers, (customer) => customer.customer_id),
  cases: reader(records.cases, ({ id }) => id),
  contexts: reader(records.contexts, (entry) => entry.case),
  webhooks: reader(records.webhooks, ({ name }) => name),
  transitions: reader(records.transitions, (transition) => JSON.stringify(transition)),
};

export type DatasetPart = keyof typeof readers;

/**
 * Loads and validates a dataset folder. Every file is optional, but an unknown one is an error,
 * since its name is probably misspelt.
 *
 * @throws UsageError `dataset_not_found`, or `dataset_invalid`, naming file and line of the first
 *   fault
 */
export async function loadDataset(folder: string): Promise<Dataset> {
  const parts: { [part in DatasetPart]?: readonly Placed[] } = {};
  for (const { name, value, where } of await textsIn(folder, ".ndjson")) {
    if (!(name in readers)) {
      const known = Object.keys(readers).map((part) => `${part}.ndjson`);
      throw invalid(where, `not a file of a dataset; known files are ${known.join(", ")}`);
    }
    parts[name as DatasetPart] = linesOf(value, where);
  }
  const lists = join(folder, "tag-ips");
  const texts = existsSync(lists) ? await textsIn(lists, ".txt") : [];
  return assemble(parts, new Map(texts.map((text) => [text.name, text])));
}

interface NamedText extends Placed<string> {
  /** Name of the file without its ending. */
  readonly name: string;
}

async function textsIn(folder: string, ending: string): Promise<NamedText[]> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith(ending)).sort();
    const read = names.map(async (file) => {
      const where = join(folder, file);
      return { name: basename(file, ending), where, value: await readFile(where, "utf8") };
    });
    return await Promise.all(read);
  } catch (error) {
    const why = (error as Error).message;
    throw new UsageError("dataset_not_found", `cannot read the dataset folder ${folder}: ${why}`, {
      cause: error,
      hint: "name a folder laid out as in samples/dataset/README.md",
    });
  }
}

function linesOf(text: string, path: string): Placed[] {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const where = `${path}:${index + 1}`;
    try {
      return { value: JSON.parse(line) as unknown, where };
    } catch (error) {
      throw invalid(where, `not valid JSON: ${(error as Error).message}`);
    }
  });
}

/**
 * Validates the records against the API schemas and against each other.
 *
 * @param texts further addresses of each tag, by `<group>--<name>`
 * @throws UsageError `dataset_invalid`, naming the place of the first fault
 */
export function assemble(
  parts: { readonly [part in DatasetPart]?: readonly Placed[] },
  texts: ReadonlyMap<string, Placed<string>> = new Map(),
): Dataset {
  const items = readers.items(parts.items);
  const records = readers.tags(parts.tags);
  const tagged = addressesByTag([...items.values()], records);
  const tags = new Map<string, DatasetTag>();
  const unused = new Map(texts);
  for (const [name, { value }] of records) {
    const stem = name.split(":").map(encodeURIComponent).join("--");
    const text = unused.get(stem);
    unused.delete(stem);
    const list = listOf([...value.entries, ...(tagged.get(name) ?? [])], text);
    const { tag, lastUpdate } = value;
    tags.set(name, { tag, list, isBorneBy: hasMember(list), lastUpdate });
  }
  for (const { where } of unused.values()) throw invalid(where, "belongs to no tag in tags.ndjson");
  const webhooks = readers.webhooks(parts.webhooks);
  const transitions = [...readers.transitions(parts.transitions).values()];
  for (const { value, where } of transitions) {
    if (webhooks.has(value.webhook)) continue;
    throw invalid(where, `webhook: ${quoted(value.webhook)} is not in webhooks.ndjson`);
  }
  return {
    items: valuesOf(items),
    tags,
    customers: [...valuesOf(readers.customers(parts.customers)).values()],
    cases: valuesOf(readers.cases(parts.cases)),
    contexts: new Map(
      Array.from(readers.contexts(parts.contexts), ([id, { value }]) => [id, value.context]),
    ),
    webhooks: valuesOf(webhooks),
    transitions: transitions.map(({ value }) => value),
  };
}

function invalid(where: string, what: string): UsageError {
  return new UsageError("dataset_invalid", `${where}: ${what}`, {
    hint: "see samples/dataset/README.md for the files of a dataset",
  });
}

/** Reads the records of a part by their keys, which must be distinct. */
function reader<T>(schema: z.ZodType<T>, keyOf: (record: T) => string) {
  return (records: readonly Placed[] = []): Map<string, Placed<T>> => {
    const read = new Map<string, Placed<T>>();
    for (const { value, where } of records) {
      const parsed = schema.safeParse(value);
      if (!parsed.success) throw invalid(where, firstIssue(parsed.error));
      const key = keyOf(parsed.data);
      const first = read.get(key);
      if (first) throw invalid(where, `${quoted(key)} is a duplicate of ${first.where}`);
      read.set(key, { value: parsed.data, where });
    }
    return read;
  };
}

function valuesOf<T>(records: ReadonlyMap<string, Placed<T>>): Map<string, T> {
  return new Map(Array.from(records, ([key, { value }]) => [key, value]));
}

/** The addresses that carry each tag, which are part of the tag's list. */
function addressesByTag(
  items: readonly Placed<DatasetRecord<"items">>[],
  known: ReadonlyMap<string, unknown>,
): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const { value: entry, where } of items) {
    if (!("result" in entry) || !("tags" in entry.result)) continue;
    for (const tag of entry.result.tags as readonly string[]) {
      if (!known.has(tag)) {
        throw invalid(where, `result.tags: tag ${quoted(tag)} is not in tags.ndjson`);
      }
      if (entry.result.type !== "IP") continue;
      addresses.set(tag, [...(addresses.get(tag) ?? []), entry.item.value]);
    }
  }
  return addresses;
}

function listOf(entries: readonly string[], text: Placed<string> | undefined): readonly string[] {
  try {
    return readIpList([entries.join("\n"), text?.value ?? ""]);
  } catch (error) {
    throw invalid(text?.where ?? "", (error as Error).message);
  }
}
