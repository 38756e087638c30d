import { z } from "zod";
import { camelCase, endpoints } from "../../api/endpoints.js";
import {
  caseContextSchema,
  customerSchema,
  repShareCaseSchema,
} from "../../api/schema/operations.js";
import {
  partialResultSchema,
  type QueryResult,
  queryResultSchema,
} from "../../api/schema/query-result.js";
import { tagSchema } from "../../api/schema/tag.js";
import { caseStates, type ResultType } from "../../api/schema/vocabulary.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import type { Item, ItemKind } from "../../core/item/item.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { isAfter, timeFault } from "./seen-times.js";

/** What is known of an item. */
export interface ListedItem {
  readonly item: Item;
  readonly result: QueryResult;
  /** Answers given instead of those derived from `result`. */
  readonly answers: { readonly [endpoint in LookupEndpoint]?: object | undefined };
  readonly partial: PartialScript | null;
}

/** An item that the service answers with 400. */
export interface RefusedItem {
  readonly item: Item;
  /** The message in `errors.$`. */
  readonly refuse: string;
}

/**
 * Partial answers to give before a full one: each request gets the next list of missing members.
 */
interface PartialScript {
  readonly missing: readonly (readonly string[])[];
  /** After the last list: start over with the first (true), or give one full answer (false). */
  readonly forever: boolean;
}

/** A line of `items.ndjson` with an item that the service refuses. */
const refusedItem = z
  .strictObject({ item: z.string(), refuse: z.string(), note: z.string().optional() })
  .transform(({ item: text, refuse }, context): RefusedItem => {
    const item = normalItem("item", text);
    return typeof item === "string" ? refused(item, context) : { item, refuse };
  });

/** Results of other endpoints than `query`, such as `quickCheck`, that override the derived ones. */
const ownResults = Object.fromEntries(
  lookupEndpoints
    .filter((endpoint) => endpoint !== "query")
    .map((endpoint) => [camelCase(endpoint), asWritten(endpoints[endpoint].result).optional()]),
);

/** A line of `items.ndjson` with what is known of an item. */
const listedItem = z
  .strictObject({
    result: asWritten(queryResultSchema),
    ...ownResults,
    partial: z
      .strictObject({
        missing: z.array(z.array(z.string())).min(1),
        forever: z.boolean().default(false),
      })
      .optional(),
    note: z.string().optional(),
  })
  .transform((entry, context): ListedItem => {
    const { result, partial = null } = entry;
    const item = normalItem("result.item", result.item);
    if (typeof item === "string") return refused(item, context);
    const fault =
      typeFault(result, item) ??
      timeFault(result, "result") ??
      missingFault(result, partial?.missing ?? []);
    if (fault !== null) return refused(fault, context);
    const results = entry as Readonly<Record<string, object | undefined>>;
    const answers = eachEndpoint((endpoint) => results[camelCase(endpoint)]);
    return { item, result, answers, partial };
  });

export const itemRecord = z.unknown().transform((value, context): ListedItem | RefusedItem => {
  const isRefused = typeof value === "object" && value !== null && "refuse" in value;
  return parsedBy(isRefused ? refusedItem : listedItem, value, context);
});

/** A line of `tags.ndjson`. Longer address lists are files in `tag-ips/`. */
export const tagRecord = z.strictObject({
  tag: asWritten(
    tagSchema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  ),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: z.array(z.string()).default([]),
});

export const customerRecord = asWritten(customerSchema);

export const caseRecord = asWritten(
  repShareCaseSchema.extend({ state: z.enum(caseStates) }),
).superRefine(({ first_event_date: first, last_event_date: last }, context) => {
  if (isAfter(first, last)) {
    context.addIssue(`first_event_date ${first} is after last_event_date ${last}`);
  }
});

export const contextRecord = z.strictObject({
  case: z.string(),
  context: asWritten(caseContextSchema),
});

/** A line of `webhooks.ndjson`, and the body of `POST /_local/webhooks`. */
export const webhookRecord = z.strictObject({
  name: z.string().min(1),
  endpoint: z.url({ protocol: /^https?$/, error: "must be an http:// or https:// address" }),
  method: z.enum(["POST", "PUT", "PATCH", "DELETE", "GET"]),
  path: z.string().optional(),
  payload: z.unknown().nonoptional(),
});

/** A line of `transitions.ndjson`, and the body of `POST /_local/transitions`. */
export const transitionRecord = z.strictObject({
  from: z.enum(caseStates).optional(),
  to: z.enum(caseStates),
  webhook: z.string().min(1),
});

/** The first validation issue, as `result.asn.name: …`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return path === "" ? (issue?.message ?? "invalid") : `${path}: ${issue?.message}`;
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** A partial result: the same, with the missing members null. */
export function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}

/** Checks a value and keeps it as written: zod would change the order of its members. */
function asWritten<S extends z.ZodType>(schema: S) {
  return z.unknown().transform((value, context): z.input<S> => {
    parsedBy(schema, value, context);
    return value as z.input<S>;
  });
}

function parsedBy<S extends z.ZodType>(
  schema: S,
  value: unknown,
  context: z.RefinementCtx,
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  context.issues.push(...(parsed.error.issues as z.core.$ZodRawIssue[]));
  return z.NEVER;
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

/** The item that a text names in its normal form; otherwise what is wrong with it. */
function normalItem(member: string, text: string): Item | string {
  const { item, reason } = recogniseItem(text);
  if (item === null) return `${member}: ${quoted(text)}: ${reason.message}`;
  if (item.value === text) return item;
  return `${member}: write ${quoted(text)} in its normal form, ${quoted(item.value)}`;
}

function typeFault({ type }: QueryResult, { kind }: Item): string | null {
  return kindOfType[type] === kind ? null : `result.type: ${type} is not a type of ${kind} items`;
}

/** Explains which member a partial result cannot lack; null if it can lack all that are named. */
function missingFault(result: QueryResult, missing: readonly (readonly string[])[]): string | null {
  const isPartial = (member: string): boolean =>
    member in result && partialResultSchema.safeParse(withMissing(result, [member])).success;
  const member = missing.flat().find((name) => !isPartial(name));
  if (member === undefined) return null;
  return `partial.missing: ${quoted(member)} cannot be missing in a partial ${result.type} result`;
}

function refused(fault: string, context: z.RefinementCtx): never {
  context.addIssue(fault);
  return z.NEVER;
}
