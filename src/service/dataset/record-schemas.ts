import { z } from "zod";
import {
  caseContextSchema,
  customerSchema,
  repShareCaseSchema,
} from "../../api/schema/operations.js";
import { camelCase, endpoints } from "../../api/endpoints.js";
import { lookupEndpoints } from "../../core/finding.js";
import { queryResultSchema } from "../../api/schema/query-result.js";
import { tagSchema } from "../../api/schema/tag.js";
import { caseStates } from "../../api/schema/vocabulary.js";

/** A line of `items.ndjson` with what is known of an item. */
export const listedItemRecord = z.strictObject({
  result: queryResultSchema,
  ...ownResults(),
  partial: z
    .strictObject({
      missing: z.array(z.array(z.string())).min(1),
      forever: z.boolean().default(false),
    })
    .optional(),
  note: z.string().optional(),
});

/**
 * Results of other endpoints than `query`, such as `quickCheck`, that override the derived ones.
 */
function ownResults(): Record<string, z.ZodOptional> {
  const others = lookupEndpoints.filter((endpoint) => endpoint !== "query");
  return Object.fromEntries(
    others.map((endpoint) => [camelCase(endpoint), endpoints[endpoint].result.optional()]),
  );
}

/** A line of `items.ndjson` with an item that the service refuses. */
export const refusedItemRecord = z.strictObject({
  item: z.string(),
  refuse: z.string(),
  note: z.string().optional(),
});

/** A line of `tags.ndjson`. Longer address lists are files in `tag-ips/`. */
export const tagRecord = z.strictObject({
  tag: tagSchema.extend({ name: z.string().regex(/^[^:]+:.+$/, "must be <group>:<name>") }),
  lastUpdate: z.iso.datetime({ offset: true }),
  entries: z.array(z.string()).default([]),
});

/** A line of `customers.ndjson`. */
export const customerRecord = customerSchema;

/** A line of `cases.ndjson`. */
export const caseRecord = repShareCaseSchema.extend({ state: z.enum(caseStates) });

/** A line of `contexts.ndjson`. */
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
