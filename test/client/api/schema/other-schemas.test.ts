import { expect, test } from "vitest";
import {
  caseContextSchema,
  customersPageSchema,
  repShareCaseSchema,
  tagIpsSchema,
  tagListSchema,
  tagSchema,
} from "../../../../src/client/api/calls.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "../../../../src/client/api/read-answer.js";
import { partialResultSchema } from "../../../../src/core/endpoints/query.js";
import { failure, ipResult, partialSuccess, success, without } from "../answers.js";

const tag = {
  name: "credentials:brute-force",
  intent: "malicious",
  category: "activity",
  description: "Guesses passwords.",
  references: [{ url: "https://example.com/a", description: "A report" }],
  timeline: [{ date: "2023-01-02", action: "created", description: "First version" }],
};

const tagIps = {
  tag: "credentials:brute-force",
  entries: ["192.0.2.7", "2001:db8::7"],
  lastUpdate: "2023-01-02T03:04:05Z",
  total: 2,
  snapshot: "abcdefghijklmnopqrstuvwx",
};

const customers = {
  items: [{ customer_id: "c-1", tenant_id: "t-1" }],
  next_cursor: "more",
};

const repShareCase = {
  id: "case-1",
  customer_id: "c-1",
  tenant_id: "t-1",
  event_count: 3,
  event_types: ["spam"],
  event_ips: ["192.0.2.7"],
  first_event_date: "2023-01-02T03:04:05Z",
  last_event_date: "2023-01-03T03:04:05Z",
  state: "NEW",
};

const context = { s: { resolver_data: { CustomerEmail: "a@example.com" } }, id: "case-1" };

const wholes = [
  ["tag", tagSchema, tag],
  ["tag list", tagListSchema, [tag, { name: "spam:bulk" }]],
  ["tag IP list", tagIpsSchema, tagIps],
  ["customers page", customersPageSchema, customers],
  ["case", repShareCaseSchema, repShareCase],
  ["case context", caseContextSchema, context],
  ["success", successEnvelope(partialResultSchema), success(ipResult())],
  ["partial success", partialSuccessEnvelope(partialResultSchema), partialSuccess(ipResult())],
  ["failure", failureEnvelopeSchema, failure("no such item")],
] as const;

test.each(wholes)("accepts a complete %s, with unknown members", (_, schema, value) => {
  const more = { unknown: { deep: [1] } };
  const wider = Array.isArray(value) ? [{ ...tag, ...more }] : Object.assign({}, value, more);
  expect(schema.safeParse(wider).success).toBe(true);
});

test.each([
  ["tag", tagSchema, tag, ["intent", "category", "description", "references", "timeline"]],
  ["customers page", customersPageSchema, customers, ["next_cursor", "items.0.tenant_id"]],
  [
    "case",
    repShareCaseSchema,
    repShareCase,
    Object.keys(repShareCase).filter((member) => member !== "id"),
  ],
  ["case context", caseContextSchema, context, ["s", "s.resolver_data"]],
] as const)(
  "accepts a %s without members that the specification doesn't require",
  (_, schema, value, paths) => {
    const refused = paths.filter((path) => !schema.safeParse(without(value, path)).success);
    expect(refused).toEqual([]);
  },
);

test.each([
  ["tag", tagSchema, tag, ["name"]],
  ["tag IP list", tagIpsSchema, tagIps, Object.keys(tagIps)],
  ["customers page", customersPageSchema, customers, ["items", "items.0.customer_id"]],
  ["case", repShareCaseSchema, repShareCase, ["id"]],
  ["failure", failureEnvelopeSchema, failure("x"), ["status", "statusCode", "errors", "errors.$"]],
  [
    "success",
    successEnvelope(partialResultSchema),
    success(ipResult()),
    ["status", "statusCode", "result"],
  ],
] as const)("the required members of a %s are required", (_, schema, value, paths) => {
  const passed = paths.filter((path) => schema.safeParse(without(value, path)).success);
  expect(passed).toEqual([]);
});
