import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import {
  type CaseContext,
  type Customer,
  type RepShareCase,
  type Tag,
  calls,
  caseStates,
} from "../client/api/calls.js";
import { UsageError } from "../core/errors.js";
import { quoted } from "../core/wording/printable.js";
import { isIPv4 } from "node:net";
import { camelCase, endpoints } from "../core/endpoints/endpoints.js";
import { type QueryResult, queryResultSchema } from "../core/endpoints/query.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { readIpv6 } from "../core/item/ip.js";
import type { Item } from "../core/item/item.js";
import { recogniseItem } from "../core/item/recognise.js";

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
  readonly hasAddress: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

/** A value of the dataset and its place, such as `items.ndjson:4`. */
export interface Placed<T = unknown> {
  readonly value: T;
  readonly where: string;
}

/**
 * Loads and validates a dataset folder. Every file is optional, but an unknown one is an error,
 * since its name is probably misspelt.
 *
 * @throws UsageError `dataset_not_found`, or `dataset_invalid`, naming file and line of the first
 *   fault
 */
export async function loadDataset(folder: string): Promise<Dataset> {
  const parts: { [part in DatasetPart]?: readonly Placed[] } = {};
  try {
    for (const file of (await readdir(folder)).sort()) {
      if (!file.endsWith(".ndjson")) continue;
      const [part, path] = [basename(file, ".ndjson"), join(folder, file)];
      if (!(part in datasetParts)) {
        const known = Object.keys(datasetParts).map((name) => `${name}.ndjson`);
        throw invalid(path, `not a file of a dataset; known files are ${known.join(", ")}`);
      }
      parts[part as DatasetPart] = linesOf(await readFile(path, "utf8"), path);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = (error as Error).message;
    throw new UsageError("dataset_not_found", `cannot read the dataset folder ${folder}: ${why}`, {
      cause: error,
      hint: "name a folder laid out as in samples/dataset/README.md",
    });
  }
  return assemble(parts);
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
 * @throws UsageError `dataset_invalid`, naming the place of the first fault
 */
export function assemble(parts: { readonly [part in DatasetPart]?: readonly Placed[] }): Dataset {
  const items = datasetParts.items.read(parts.items);
  const records = datasetParts.tags.read(parts.tags);
  const tagged = addressesByTag([...items.values()], records);
  const tags = new Map<string, DatasetTag>();
  for (const [name, { value }] of records) {
    const list = addressList([...(tagged.get(name) ?? []), ...value.entries]);
    const { tag, lastUpdate } = value;
    tags.set(name, { tag, list, hasAddress: hasMember(list), lastUpdate });
  }
  const webhooks = datasetParts.webhooks.read(parts.webhooks);
  const transitions = [...datasetParts.transitions.read(parts.transitions).values()];
  for (const { value, where } of transitions) {
    if (webhooks.has(value.webhook)) continue;
    throw invalid(where, `webhook: ${quoted(value.webhook)} is not in webhooks.ndjson`);
  }
  return {
    items: valuesOf(items),
    tags,
    customers: [...valuesOf(datasetParts.customers.read(parts.customers)).values()],
    cases: valuesOf(datasetParts.cases.read(parts.cases)),
    contexts: new Map(
      Array.from(datasetParts.contexts.read(parts.contexts), ([id, { value }]) => [
        id,
        value.context,
      ]),
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

/** A file `<part>.ndjson`: the schema of its lines, and how to read them by their keys, which must be distinct. */
function part<S extends z.ZodType>(schema: S, keyOf: (record: z.output<S>) => string) {
  const read = (lines: readonly Placed[] = []): Map<string, Placed<z.output<S>>> => {
    const records = new Map<string, Placed<z.output<S>>>();
    for (const { value, where } of lines) {
      const parsed = schema.safeParse(value);
      if (!parsed.success) throw invalid(where, firstIssue(parsed.error));
      const key = keyOf(parsed.data);
      const first = records.get(key);
      if (first) throw invalid(where, `${quoted(key)} is a duplicate of ${first.where}`);
      records.set(key, { value: parsed.data, where });
    }
    return records;
  };
  return { schema, read };
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

/** What the service answers for an item. */
export interface KnownAnswer {
  readonly result: QueryResult;
  /** Answers given instead of those derived from `result`. */
  readonly answers: { readonly [endpoint in LookupEndpoint]?: object | undefined };
  readonly partial: PartialScript | null;
}

/** The message in `errors.$` of the 400 that an item gets. */
export interface RefusedAnswer {
  readonly refuse: string;
}

type DatasetItem = { readonly item: Item } & (KnownAnswer | RefusedAnswer);

const partialScript = z.strictObject({
  missing: z.array(z.array(z.string())).min(1),
  forever: z.boolean().default(false),
});

/**
 * Partial answers to give before a full one: each request gets the next list of missing members.
 * After the last list, `forever` starts over without giving a full answer.
 */
type PartialScript = Readonly<z.output<typeof partialScript>>;

/** Results of other endpoints than `query`, such as `quickCheck`, that override the derived ones. */
const ownResults = Object.fromEntries(
  lookupEndpoints
    .filter((endpoint) => endpoint !== "query")
    .map((endpoint) => [camelCase(endpoint), endpoints[endpoint].result.optional()]),
);

/** A line of `items.ndjson`: an item that the service refuses, or what it answers. */
const itemRecord = z
  .strictObject({
    item: z.string().optional(),
    refuse: z.string().optional(),
    result: queryResultSchema.optional(),
    ...ownResults,
    partial: partialScript.optional(),
    note: z.string().optional(),
  })
  .transform((entry, context): DatasetItem => {
    const { refuse, result, partial = null } = entry;
    const refused = (fault: string): never => {
      context.addIssue(fault);
      return z.NEVER;
    };
    const text = refuse === undefined ? result?.item : entry.item;
    if (text === undefined) return refused("neither a result, nor an item to refuse");
    const { item, reason } = recogniseItem(text);
    if (item === null) return refused(`${quoted(text)}: ${reason.message}`);
    if (item.value !== text) {
      return refused(`write ${quoted(text)} in its normal form, ${quoted(item.value)}`);
    }
    if (refuse !== undefined) return { item, refuse };
    const results = entry as Readonly<Record<string, object | undefined>>;
    const answers = eachEndpoint((endpoint) => results[camelCase(endpoint)]);
    return { item, result: result!, answers, partial };
  });

/** A partial result: missing members become null. */
export function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}

const addressEntries = z.array(
  z.string().transform((text, context) => {
    const address = isIPv4(text) ? text : readIpv6(text);
    if (address !== null) return address;
    context.addIssue(`${quoted(text)} is not an IP address`);
    return z.NEVER;
  }),
);

/** A line of `tags.ndjson`. */
const tagRecord = z.strictObject({
  tag: calls.tag.schema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: addressEntries.default([]),
});

const caseRecord = calls["rep-share-case"].schema.extend({ state: z.enum(caseStates) });

const contextRecord = z.strictObject({ case: z.string(), context: calls["case-context"].schema });

/** A line of `webhooks.ndjson`. */
const webhookRecord = z.strictObject({
  name: z.string().min(1),
  endpoint: z.url({ protocol: /^https?$/, error: "must be an http:// or https:// address" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET"]),
  path: z.string().optional(),
  payload: z.unknown().nonoptional(),
});

/** A line of `transitions.ndjson`. */
const transitionRecord = z.strictObject({
  from: z.enum(caseStates).optional(),
  to: z.enum(caseStates),
  webhook: z.string().min(1),
});

const datasetParts = {
  items: part(itemRecord, ({ item }) => item.value),
  tags: part(tagRecord, ({ tag }) => tag.name),
  customers: part(calls.customers.schema.shape.items.element, (customer) => customer.customer_id),
  cases: part(caseRecord, ({ id }) => id),
  contexts: part(contextRecord, (entry) => entry.case),
  webhooks: part(webhookRecord, ({ name }) => name),
  transitions: part(transitionRecord, (transition) => JSON.stringify(transition)),
};

/** Bodies of requests below `/_local/`: records as in the files, and the list of a tag. */
export const bodies = {
  webhook: webhookRecord,
  transition: transitionRecord,
  list: z
    .strictObject({ entries: addressEntries })
    .transform(({ entries }) => addressList(entries)),
};

type DatasetPart = keyof typeof datasetParts;

/** The content of a line of such a file. */
export type DatasetRecord<Part extends DatasetPart> = Readonly<
  z.output<(typeof datasetParts)[Part]["schema"]>
>;

/** The distinct addresses, IPv4 before IPv6, otherwise in order of appearance. */
function addressList(addresses: readonly string[]): readonly string[] {
  const distinct = [...new Set(addresses)];
  return [...distinct.filter(isIPv4), ...distinct.filter((address) => !isIPv4(address))];
}

/** Tests addresses for membership in a list. Builds its index at the first test. */
export function hasMember(list: readonly string[]): (address: string) => boolean {
  let members: ReadonlySet<string> | undefined;
  return (address) => (members ??= new Set(list)).has(address);
}

/** The first validation issue, as `result.asn.name: …`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return path === "" ? (issue?.message ?? "invalid") : `${path}: ${issue?.message}`;
}
