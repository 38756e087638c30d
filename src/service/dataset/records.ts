import { isIPv4 } from "node:net";
import { z } from "zod";
import { camelCase, endpoints } from "../../core/endpoints/endpoints.js";
import {
  caseContextSchema,
  customerSchema,
  repShareCaseSchema,
} from "../../client/api/schema/operations.js";
import { type QueryResult, queryResultSchema } from "../../core/endpoints/query.js";
import { tagSchema } from "../../client/api/schema/tag.js";
import { caseStates } from "../../client/api/schema/vocabulary.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import { readIpv6 } from "../../core/item/ip.js";
import type { Item } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";

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

/** A partial result: the same, with the missing members null. */
export function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}

export const addressEntries = z.array(
  z.string().refine(isAddress, { error: ({ input }) => notAnAddress(String(input)) }),
);

/** A line of `tags.ndjson`. Longer address lists are files in `tag-ips/`. */
const tagRecord = z.strictObject({
  tag: tagSchema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: addressEntries.default([]),
});

const caseRecord = repShareCaseSchema.extend({ state: z.enum(caseStates) });

const contextRecord = z.strictObject({ case: z.string(), context: caseContextSchema });

/** A line of `webhooks.ndjson`, and the body of `POST /_local/webhooks`. */
const webhookRecord = z.strictObject({
  name: z.string().min(1),
  endpoint: z.url({ protocol: /^https?$/, error: "must be an http:// or https:// address" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET"]),
  path: z.string().optional(),
  payload: z.unknown().nonoptional(),
});

/** A line of `transitions.ndjson`, and the body of `POST /_local/transitions`. */
const transitionRecord = z.strictObject({
  from: z.enum(caseStates).optional(),
  to: z.enum(caseStates),
  webhook: z.string().min(1),
});

/** The lines of the files `<part>.ndjson`. */
export const records = {
  items: itemRecord,
  tags: tagRecord,
  customers: customerSchema,
  cases: caseRecord,
  contexts: contextRecord,
  webhooks: webhookRecord,
  transitions: transitionRecord,
};

/** The content of a line of such a file. */
export type DatasetRecord<Part extends keyof typeof records> = Readonly<
  z.output<(typeof records)[Part]>
>;

/**
 * Parses texts with one address per line. Ignores blank lines and lines that start with `#`.
 *
 * @returns the distinct addresses, IPv4 before IPv6, otherwise in order of appearance
 * @throws Error naming the first invalid line
 */
export function readIpList(texts: readonly string[]): readonly string[] {
  const v4 = new Set<string>();
  const v6 = new Set<string>();
  for (const text of texts) {
    for (const [index, line] of text.split("\n").entries()) {
      const entry = line.trim();
      if (entry === "" || entry.startsWith("#")) continue;
      if (!isAddress(entry)) throw new Error(`line ${index + 1}: ${notAnAddress(entry)}`);
      if (isIPv4(entry)) v4.add(entry);
      else v6.add(readIpv6(entry)!);
    }
  }
  return [...v4, ...v6];
}

/** Tests addresses for membership in a list. Builds its index at the first test. */
export function hasMember(list: readonly string[]): (address: string) => boolean {
  let members: ReadonlySet<string> | undefined;
  return (address) => (members ??= new Set(list)).has(address);
}

function isAddress(text: string): boolean {
  return isIPv4(text) || readIpv6(text) !== null;
}

function notAnAddress(text: string): string {
  return `${quoted(text)} is not an IP address`;
}

/** The first validation issue, as `result.asn.name: …`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return path === "" ? (issue?.message ?? "invalid") : `${path}: ${issue?.message}`;
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
