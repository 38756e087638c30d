import { z } from "zod";
import { explainIssue, wholeNumber } from "../../core/options.js";
import type { ServiceName } from "./service-description.js";
import { dateTime, openEnum } from "../../core/endpoints/endpoint.js";

// Calls, which are requests other than lookups: schemas of their results, and a table of paths.
const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const word = openEnum.nullish();
const time = dateTime.nullish();

const customerSchema = z.looseObject({ customer_id: z.string(), tenant_id: text });

const customersPageSchema = z.looseObject({ items: z.array(customerSchema), next_cursor: text });

export type Customer = z.infer<typeof customerSchema>;

/**
 * A reputation-share case. The specification doesn't say which members are required, so every member
 * except `id` may be null or absent.
 */
const repShareCaseSchema = z.looseObject({
  id: z.string(),
  customer_id: text,
  tenant_id: text,
  event_count: z.int().nullish(),
  event_types: texts,
  event_ips: texts,
  first_event_date: time,
  last_event_date: time,
  state: word,
});

export type RepShareCase = z.infer<typeof repShareCaseSchema>;

/**
 * Result of `GET /api/v1/cases/{caseId}/context`. The specification only shows that payload expressions
 * read `s.resolver_data` and its fields; everything else is kept as received.
 */
const caseContextSchema = z.looseObject({
  s: z.looseObject({ resolver_data: z.looseObject({}).nullish() }).nullish(),
});

export type CaseContext = z.infer<typeof caseContextSchema>;

export const caseStates = ["NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"] as const;

export const tagIpsLimit = { min: 1, max: 10_000 } as const;

export const snapshotLength = 24;

/** The parameters of `/tags/{name}/ips`, as text or numbers. */
export const tagIpsQuery = z.object({
  offset: wholeNumber(0).optional(),
  limit: wholeNumber(tagIpsLimit.min, tagIpsLimit.max).optional(),
  snapshot: z
    .string()
    .length(snapshotLength, `must have exactly ${snapshotLength} characters`)
    .optional(),
});

/** `GET /tags` is not in the specification; known from the vendor's public client. */
const tagSummarySchema = z.looseObject({
  name: z.string(),
  intent: word,
  category: word,
  description: text,
});

/**
 * Result of `/tags/{name}`. The specification doesn't say which members may be null or absent, so every
 * member except `name` may be.
 */
const tagSchema = tagSummarySchema.extend({
  references: z.array(z.looseObject({ url: text, description: text })).nullish(),
  timeline: z.array(z.looseObject({ date: text, action: text, description: text })).nullish(),
});

export type Tag = z.infer<typeof tagSchema>;
export type TagSummary = z.infer<typeof tagSummarySchema>;

/** Result of `/tags/{name}/ips`: one page of the list. */
const tagIpsSchema = z.looseObject({
  tag: z.string(),
  entries: z.array(z.string()),
  lastUpdate: z.string(),
  total: z.number().nonnegative(),
  snapshot: z.string().length(snapshotLength),
});

export type TagIps = z.infer<typeof tagIpsSchema>;

export function wrongParameter({ issues }: z.ZodError): readonly [name: string, why: string] {
  const [issue] = issues;
  return [String(issue!.path[0]), explainIssue(issue!)];
}

interface CallSpec {
  /** `intel` wraps its results in an envelope; the other services don't. */
  readonly service: ServiceName;
  /** Path below the base address; `{…}` stands for the argument. */
  readonly path: string;
  /** Schema of the result, or of the whole body without an envelope. */
  readonly schema: z.ZodType;
}

export const calls = {
  tags: { service: "intel", path: "/tags", schema: z.array(tagSummarySchema) },
  tag: { service: "intel", path: "/tags/{name}", schema: tagSchema },
  "tag-ips": { service: "intel", path: "/tags/{name}/ips", schema: tagIpsSchema },
  customers: { service: "ops", path: "/beta/ops/customers", schema: customersPageSchema },
  "rep-share-case": {
    service: "ops",
    path: "/beta/guardian-ops/rep-share/cases/{caseId}",
    schema: repShareCaseSchema,
  },
  "case-context": {
    service: "case",
    path: "/api/v1/cases/{caseId}/context",
    schema: caseContextSchema,
  },
} as const satisfies Readonly<Record<string, CallSpec>>;

export type CallName = keyof typeof calls;

export type CallResult<Name extends CallName> = z.output<(typeof calls)[Name]["schema"]>;
