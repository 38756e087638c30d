import { expect, test } from "vitest";
import { type CallName, calls } from "../../../src/client/api/calls.js";
import { schemaFault } from "../../../src/client/api/schema-fault.js";
import { results } from "../../../src/core/endpoints/query.js";
import { ipResult, without } from "./answers.js";

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

/** A whole answer of each call, and the members that the specification requires, and does not. */
const answers: Readonly<
  Record<CallName, readonly [whole: object, required: string[], optional: string[]]>
> = {
  tags: [[tag, { name: "spam:bulk" }], ["0.name"], ["0.intent"]],
  tag: [tag, ["name"], Object.keys(tag).slice(1)],
  "tag-ips": [tagIps, Object.keys(tagIps), []],
  customers: [
    { items: [{ customer_id: "c-1", tenant_id: "t-1" }], next_cursor: "more" },
    ["items", "items.0.customer_id"],
    ["next_cursor", "items.0.tenant_id"],
  ],
  "rep-share-case": [repShareCase, ["id"], Object.keys(repShareCase).slice(1)],
  "case-context": [
    { s: { resolver_data: { CustomerEmail: "a@example.com" } }, id: "case-1" },
    [],
    ["s", "s.resolver_data"],
  ],
};

test.each(Object.keys(answers) as CallName[])(
  "%s takes unknown members, and lacks only what the specification doesn't require",
  (name) => {
    const [whole, required, optional] = answers[name];
    const follows = (value: unknown) => calls[name].schema.safeParse(value).success;
    const more = { unknown: { deep: [1] } };
    const widened = Array.isArray(whole) ? [{ ...tag, ...more }] : { ...whole, ...more };
    expect(follows(widened)).toBe(true);
    expect(required.filter((path) => follows(without(whole, path)))).toEqual([]);
    expect(optional.filter((path) => !follows(without(whole, path)))).toEqual([]);
  },
);

const large = 8 * 1024 * 1024;

test.each([100, large])("finds no fault in a valid value of %i bytes", (bytes) => {
  expect(schemaFault(results.IP, ipResult(), bytes, "result")).toBeNull();
});

test.each([
  ["far down a long list", 200_000, 123_456],
  ["in the first slice of a long one", 4_000_000, 0],
])("locates a fault %s", (_, length, at) => {
  const entries: unknown[] = Array.from({ length }, (_, n) => (n < at ? "192.0.2.7" : 0));
  const { schema } = calls["tag-ips"];
  expect(schemaFault(schema, { ...tagIps, entries }, large, "result")).toContain(
    `result.entries[${at}] must be of type string`,
  );
});
