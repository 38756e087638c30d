import type { z } from "zod";
import { caseContextSchema, customersPageSchema, repShareCaseSchema } from "./schema/operations.js";
import { tagIpsSchema, tagListSchema, tagSchema } from "./schema/tag.js";
import { snapshotLength, tagIpsLimit } from "./schema/vocabulary.js";
import type { ServiceName } from "./service-description.js";

/** An endpoint other than the lookups. */
export interface CallSpec {
  /** Answers of `intel` come in the envelope, all others without it. */
  readonly service: ServiceName;
  /** Path below the base address; `{…}` stands for the argument. */
  readonly path: string;
  /** Schema of the result, or of the whole body without an envelope. */
  readonly schema: z.ZodType;
  /** Names of operation and schema in generated documents. */
  readonly id: string;
  readonly schemaName: string;
  readonly summary: string;
  readonly answer: string;
  /** Further answers that have no documented body. */
  readonly others?: string;
  readonly parameters: readonly object[];
  /** Whether it answers without a credential, as far as known. */
  readonly open?: boolean;
  readonly outsideSpecification?: boolean;
}

export function pathParameter(name: string, description: string, example: string): object {
  const schema = { type: "string", examples: [example] };
  return { name, in: "path", required: true, description, schema };
}

function queryParameter(
  name: string,
  description: string,
  schema: object,
  outside?: true | string,
): object {
  const mark = outside === undefined ? {} : { "x-outside-specification": outside };
  return { name, in: "query", description, schema, ...mark };
}

const tagName = pathParameter("name", "Tag name, <group>:<name>", "credentials:brute-force");
const caseId = pathParameter("caseId", "Identifier of the case", "case-1001");

/** The specification states the rules of the numeric parameters but not their names. */
const unnamed = "the name, which the specification doesn't give";

export const calls = {
  tags: {
    service: "intel",
    path: "/tags",
    schema: tagListSchema,
    id: "tags",
    schemaName: "TagList",
    summary: "All tags",
    answer: "The tags",
    parameters: [
      queryParameter("includeDescriptions", "Whether to include descriptions", {
        type: "boolean",
        default: false,
      }),
    ],
    outsideSpecification: true,
  },
  tag: {
    service: "intel",
    path: "/tags/{name}",
    schema: tagSchema,
    id: "tag",
    schemaName: "Tag",
    summary: "Description of a tag",
    answer: "The tag",
    parameters: [tagName],
  },
  "tag-ips": {
    service: "intel",
    path: "/tags/{name}/ips",
    schema: tagIpsSchema,
    id: "tagIps",
    schemaName: "TagIps",
    summary: "One page of a tag's IP addresses",
    answer: "The page",
    parameters: [
      tagName,
      queryParameter(
        "offset",
        "Number of entries to skip",
        { type: "integer", minimum: 0 },
        unnamed,
      ),
      queryParameter(
        "limit",
        "Maximum number of entries",
        { type: "integer", minimum: tagIpsLimit.min, maximum: tagIpsLimit.max },
        unnamed,
      ),
      queryParameter(
        "snapshot",
        "`snapshot` of an earlier answer for the same tag, to page over the same dataset",
        { type: "string", minLength: snapshotLength, maxLength: snapshotLength },
      ),
    ],
  },
  customers: {
    service: "ops",
    path: "/beta/ops/customers",
    schema: customersPageSchema,
    id: "customers",
    schemaName: "CustomersPage",
    summary: "One page of customers",
    answer: "The page",
    others: "Two more responses; the specification doesn't give their status codes",
    parameters: [
      queryParameter("cursor", "`next_cursor` of the previous page", { type: "string" }, true),
    ],
  },
  "rep-share-case": {
    service: "ops",
    path: "/beta/guardian-ops/rep-share/cases/{caseId}",
    schema: repShareCaseSchema,
    id: "repShareCase",
    schemaName: "RepShareCase",
    summary: "One reputation-share case",
    answer: "The case",
    others: "Three more responses; the specification doesn't give their status codes",
    parameters: [caseId],
    // The specification doesn't say whether it needs authentication.
    open: true,
  },
  "case-context": {
    service: "case",
    path: "/api/v1/cases/{caseId}/context",
    schema: caseContextSchema,
    id: "caseContext",
    schemaName: "CaseContext",
    summary: "Context of a case, as payload expressions see it",
    answer: "The context",
    others: "Authentication Failed, and others that the specification doesn't give",
    parameters: [caseId],
  },
} as const satisfies Readonly<Record<string, CallSpec>>;

export type CallName = keyof typeof calls;

export type CallResult<Name extends CallName> = z.output<(typeof calls)[Name]["schema"]>;
