import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { type Tag, calls, caseStates } from "../client/api/calls.js";
import { UsageError } from "../core/errors.js";
import { quoted } from "../core/wording/printable.js";
import { isIPv4 } from "node:net";
import { type CamelCase, camelCase, endpoints } from "../core/endpoints/endpoints.js";
import { type QueryResult, queryResultSchema } from "../core/endpoints/query.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { readIpv6 } from "../core/item/ip.js";
import { recogniseItem } from "../core/item/recognise.js";
import { packagePath } from "../core/program.js";

export const sampleDataset = packagePath("samples/dataset");

export type Dataset = Readonly<ReturnType<typeof assemble>>;

export interface DatasetTag {
  readonly tag: Tag;
  readonly list: readonly string[];
  /** Whether an address bears the tag; true for all of `list`. */
  readonly hasAddress: (address: string) => boolean;
  /** When the list was last updated, RFC 3339 UTC. */
  readonly lastUpdate: string;
}

/** A value of the dataset and its place, such as `items.ndjson:4`. */
interface Placed {
  readonly value: unknown;
  readonly where: string;
}

/**
 * Loads a dataset folder. Every file is optional, but an unknown one is an error, since its name is
 * probably misspelt.
 *
 * @param isChecked whether to compare the records with their schemas, which takes most of the time
 * @throws UsageError `dataset_not_found`, or `dataset_invalid`, naming file and line of the first
 *   fault
 */
export async function loadDataset(folder: string, isChecked = true): Promise<Dataset> {
  const parts: { [part in DatasetPart]?: readonly Placed[] } = {};
  try {
    // Synchronous: reading these files takes less time than starting the thread pool.
    for (const file of readdirSync(folder).sort()) {
      if (!file.endsWith(".ndjson")) continue;
      const [part, path] = [basename(file, ".ndjson"), join(folder, file)];
      if (!(part in datasetParts)) {
        const known = Object.keys(datasetParts).map((name) => `${name}.ndjson`);
        throw invalid(path, `not a file of a dataset; known files are ${known.join(", ")}`);
      }
      parts[part as DatasetPart] = linesOf(readFileSync(path, "utf8"), path);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = (error as Error).message;
    throw new UsageError("dataset_not_found", `cannot read the dataset folder ${folder}: ${why}`, {
      cause: error,
      hint: "name a folder laid out as in samples/dataset/README.md",
    });
  }
  return assemble(parts, isChecked);
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
 * Makes a dataset of the records in its files.
 *
 * @throws UsageError `dataset_invalid`, naming the place of the first fault
 */
export function assemble(
  parts: { readonly [part in DatasetPart]?: readonly Placed[] },
  isChecked = true,
) {
  const records = datasetParts.tags.read(parts.tags, isChecked);
  const items = datasetParts.items.read(parts.items, isChecked, (entry) => {
    const unknown = tagsOf(entry).find((name) => !records.has(name));
    return unknown === undefined
      ? null
      : `result.tags: tag ${quoted(unknown)} is not in tags.ndjson`;
  });
  const known = [...items.values()].flatMap((entry) => ("result" in entry ? entry.result : []));
  const addresses = known.filter((result) => result.type === "IP");
  const tags = new Map<string, DatasetTag>();
  for (const [name, { tag, lastUpdate, entries = [] }] of records) {
    const tagged = addresses.flatMap(({ item, tags }) => (tags.includes(name) ? [item] : []));
    const list = addressList([...tagged, ...entries]);
    tags.set(name, { tag, list, hasAddress: hasMember(list), lastUpdate });
  }
  const webhooks = datasetParts.webhooks.read(parts.webhooks, isChecked);
  const transitions = datasetParts.transitions.read(parts.transitions, isChecked, ({ webhook }) =>
    webhooks.has(webhook) ? null : `webhook: ${quoted(webhook)} is not in webhooks.ndjson`,
  );
  return {
    /** By normal form of the item. */
    items,
    tags,
    customers: [...datasetParts.customers.read(parts.customers, isChecked).values()],
    /** By case `id`, as are the contexts. */
    cases: datasetParts.cases.read(parts.cases, isChecked),
    contexts: datasetParts.contexts.read(parts.contexts, isChecked),
    webhooks,
    transitions: [...transitions.values()],
  };
}

function invalid(where: string, what: string): UsageError {
  return new UsageError("dataset_invalid", `${where}: ${what}`, {
    hint: "see samples/dataset/README.md for the files of a dataset",
  });
}

/** A file `<part>.ndjson`: the schema of its lines, and how to read them by their keys, which must be distinct. */
function part<Line>(schema: z.ZodType<Line, Line>, keyOf: (line: Line) => string) {
  const read = (
    lines: readonly Placed[] = [],
    isChecked: boolean,
    faultOf: (line: Line) => string | null = () => null,
  ): ReadonlyMap<string, Line> => {
    const records = new Map<string, Line>();
    const places = new Map<string, string>();
    for (const { value, where } of lines) {
      const line = value as Line;
      if (isChecked) {
        const { error } = schema.safeParse(line);
        const fault = error ? firstIssue(error) : faultOf(line);
        if (fault !== null) throw invalid(where, fault);
      }
      const key = keyOf(line);
      const first = places.get(key);
      if (first) throw invalid(where, `${quoted(key)} is a duplicate of ${first}`);
      places.set(key, where);
      records.set(key, line);
    }
    return records;
  };
  return { schema, read };
}

function tagsOf(entry: DatasetItem): readonly string[] {
  return "result" in entry && "tags" in entry.result ? (entry.result.tags as string[]) : [];
}

const partialScript = z.strictObject({
  missing: z.array(z.array(z.string())).min(1),
  forever: z.boolean().optional(),
});

/**
 * What the service answers for an item; members named after endpoints, such as `quickCheck`, override
 * what derives from `result`.
 *
 * `partial` are answers to give before a full one: each request gets the next list of missing members.
 * After the last list, `forever` starts over without giving a full answer.
 */
export interface KnownAnswer extends OwnAnswers {
  readonly result: QueryResult;
  readonly partial?: Readonly<z.output<typeof partialScript>> | undefined;
}

type OwnAnswers = {
  readonly [endpoint in LookupEndpoint as CamelCase<endpoint>]?: object | undefined;
};

/** What is known of an item; or one that the service answers with 400, and the message in `errors.$`. */
type DatasetItem = KnownAnswer | Readonly<Record<"item" | "refuse", string>>;

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
  .superRefine((entry, context) => {
    const text = entry.refuse === undefined ? entry.result?.item : entry.item;
    if (text === undefined) return context.addIssue("neither a result, nor an item to refuse");
    const { item, reason } = recogniseItem(text);
    if (item === null) context.addIssue(`${quoted(text)}: ${reason.message}`);
    else if (item.value !== text) {
      context.addIssue(`write ${quoted(text)} in its normal form, ${quoted(item.value)}`);
    }
  }) as unknown as z.ZodType<DatasetItem, DatasetItem>;

function addressOf(text: string): string | null {
  return isIPv4(text) ? text : readIpv6(text);
}

const addressEntries = z.array(
  z.string().refine((text) => addressOf(text) !== null, {
    error: ({ input }) => `${quoted(String(input))} is not an IP address`,
  }),
);

/** A line of `tags.ndjson`. */
const tagRecord = z.strictObject({
  tag: calls.tag.schema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: addressEntries.optional(),
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
  items: part(itemRecord, (entry) => ("refuse" in entry ? entry.item : entry.result.item)),
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
export type DatasetRecord<Name extends DatasetPart> = Readonly<
  z.output<(typeof datasetParts)[Name]["schema"]>
>;

/** The distinct addresses in normal form, IPv4 before IPv6, otherwise in order of appearance. */
function addressList(addresses: readonly string[]): readonly string[] {
  const distinct = [...new Set(addresses.map((text) => addressOf(text)!))];
  return [...distinct.filter(isIPv4), ...distinct.filter((address) => !isIPv4(address))];
}

/** Tests addresses for membership in a list. Builds its index at the first test. */
function hasMember(list: readonly string[]): (address: string) => boolean {
  let members: ReadonlySet<string> | undefined;
  return (address) => (members ??= new Set(list)).has(address);
}

/** The first validation issue, as `result.asn.name: …`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return path === "" ? (issue?.message ?? "invalid") : `${path}: ${issue?.message}`;
}
