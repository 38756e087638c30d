import { z } from "zod";
import { camelCase, endpoints } from "../../api/endpoints.js";
import {
  caseContextSchema,
  customerSchema,
  repShareCaseSchema,
} from "../../api/schema/operations.js";
import { type QueryResult, queryResultSchema } from "../../api/schema/query-result.js";
import { tagSchema } from "../../api/schema/tag.js";
import { caseStates } from "../../api/schema/vocabulary.js";
import { lookupEndpoints } from "../../core/finding.js";

/** A line of `items.ndjson` with an item that the service refuses. */
export const refusedItem = z.strictObject({
  item: z.string(),
  refuse: z.string(),
  note: z.string().optional(),
});

/** Results of other endpoints than `query`, such as `quickCheck`, that override the derived ones. */
const ownResults = Object.fromEntries(
  lookupEndpoints
    .filter((endpoint) => endpoint !== "query")
    .map((endpoint) => [camelCase(endpoint), endpoints[endpoint].result.optional()]),
);

/**
 * Partial answers to give before a full one: each request gets the next list of missing members.
 * After the last list, start over with the first if `forever`; otherwise give one full answer.
 */
const partialScript = z.strictObject({
  missing: z.array(z.array(z.string())).min(1),
  forever: z.boolean().optional(),
});

export type PartialScript = Readonly<z.infer<typeof partialScript>>;

/** A line of `items.ndjson` with what is known of an item. */
export const listedItem = z.strictObject({
  result: queryResultSchema,
  ...ownResults,
  partial: partialScript.optional(),
  note: z.string().optional(),
});

/** A line of `tags.ndjson`. Longer address lists are files in `tag-ips/`. */
export const tagRecord = z.strictObject({
  tag: tagSchema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: z.array(z.string()).optional(),
});

export const customerRecord = customerSchema;

export const caseRecord = repShareCaseSchema.extend({ state: z.enum(caseStates) });

export const contextRecord = z.strictObject({ case: z.string(), context: caseContextSchema });

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

/** A partial result: the same, with the missing members null. */
export function withMissing(result: QueryResult, missing: readonly string[]): object {
  return { ...result, ...Object.fromEntries(missing.map((member) => [member, null])) };
}
