import type { z } from "zod";
import { caseContextSchema, customersPageSchema, repShareCaseSchema } from "./schema/operations.js";
import { tagIpsSchema, tagListSchema, tagSchema } from "./schema/tag.js";
import type { ServiceName } from "./service-description.js";

/** An endpoint other than the lookups. */
interface CallSpec {
  /** Answers of `intel` come in the envelope, all others without it. */
  readonly service: ServiceName;
  /** Path below the base address; `{…}` stands for the argument. */
  readonly path: string;
  /** Schema of the result, or of the whole body without an envelope. */
  readonly schema: z.ZodType;
}

export const calls = {
  tags: { service: "intel", path: "/tags", schema: tagListSchema },
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
