import type { z } from "zod";
import { caseContextSchema, customersPageSchema, repShareCaseSchema } from "./schema/operations.js";
import { tagIpsSchema, tagListSchema, tagSchema } from "./schema/tag.js";
import { snapshotLength, tagIpsLimit } from "./schema/vocabulary.js";
import type { ServiceName } from "./service-description.js";

/** One endpoint that is no lookup, as clients and documents know it. */
export interface CallSpec {
  /** Answers of `intel` come in the envelope, those of the others without one. */
  readonly service: ServiceName;
  /** Below the base address; `{…}` stands for the argument. */
  readonly path: string;
  /** The result, or the whole body where there is no envelope. */
  readonly schema: z.ZodType;
  /** What documents call the operation and the schema, and say of them. */
  readonly id: string;
  readonly schemaName: string;
  readonly summary: string;
  readonly answer: string;
  /** Answers beside the one in full that have no documented body. */
  readonly others?: string;
  readonly parameters: readonly object[];
  /** Whether it answers without a credential too, as far as is known. */
  readonly open?: boolean;
  readonly outsideSpecification?: boolean;
}

/** The part of a path that an argument takes the place of, for documents. */
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

/** The interface shows the rules of the numeric parameters but not their names (interface: Endpoints, Lookup). */
const unnamed = "the name; the specification does not show it";

/** Every endpoint beside the lookups. */
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
      queryParameter("includeDescriptions", "Whether each tag comes with its description", {
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
    summary: "The description of a tag",
    answer: "The tag",
    parameters: [tagName],
  },
  "tag-ips": {
    service: "intel",
    path: "/tags/{name}/ips",
    schema: tagIpsSchema,
    id: "tagIps",
    schemaName: "TagIps",
    summary: "One page of the IP addresses of a tag",
    answer: "The page",
    parameters: [
      tagName,
      queryParameter("offset", "Entries to pass over", { type: "integer", minimum: 0 }, unnamed),
      queryParameter(
        "limit",
        "Most entries returned",
        { type: "integer", minimum: tagIpsLimit.min, maximum: tagIpsLimit.max },
        unnamed,
      ),
      queryParameter(
        "snapshot",
        "`snapshot` of an earlier answer for the same tag: the page comes from the same dataset",
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
    summary: "One page of the customers",
    answer: "The page",
    others: "Two more responses, whose status codes the specification does not show",
    parameters: [
      queryParameter("cursor", "`next_cursor` of the page before", { type: "string" }, true),
    ],
  },
  case: {
    service: "ops",
    path: "/beta/guardian-ops/rep-share/cases/{caseId}",
    schema: repShareCaseSchema,
    id: "repShareCase",
    schemaName: "RepShareCase",
    summary: "One reputation-share case",
    answer: "The case",
    others: "Three more responses, whose status codes the specification does not show",
    parameters: [caseId],
    // Whether it needs authentication is not shown (interface: Authentication, 6).
    open: true,
  },
  "case-context": {
    service: "case",
    path: "/api/v1/cases/{caseId}/context",
    schema: caseContextSchema,
    id: "caseContext",
    schemaName: "CaseContext",
    summary: "The context of a case, as payload expressions see it",
    answer: "The context",
    others: "Authentication Failed, among others that are not shown",
    parameters: [caseId],
  },
} as const satisfies Readonly<Record<string, CallSpec>>;

export type CallName = keyof typeof calls;

/** What a call resolves to. */
export type CallResult<Name extends CallName> = z.output<(typeof calls)[Name]["schema"]>;
