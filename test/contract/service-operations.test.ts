import { expect, test } from "vitest";
import {
  caseContextSchema,
  customersPageSchema,
  repShareCaseSchema,
} from "../../src/api/schema/operations.js";
import { sampleAccessToken, sampleCaseApiKey } from "../../src/service/service.js";
import { ask, askJson, bearing, runningService } from "../unit/service/running-service.js";

const customers = "/beta/ops/customers";

test.each<[string, RequestInit]>([
  ["no credential", {}],
  ["another scheme", { headers: { authorization: `Basic ${sampleAccessToken}` } }],
])("customers with %s are refused with 401 and no body", async (_, init) => {
  const service = await runningService();
  const { status, body } = await ask(service, customers, init);
  expect([status, body]).toEqual([401, ""]);
});

test("customers come in pages joined by a cursor, the last of which is empty", async () => {
  const service = await runningService();
  const ids: string[] = [];
  let cursor = "";
  do {
    const path = cursor === "" ? customers : `${customers}?cursor=${encodeURIComponent(cursor)}`;
    const answer = await askJson(service, path, bearing(sampleAccessToken));
    const page = customersPageSchema.parse(answer);
    ids.push(...page.items.map((customer) => customer.customer_id));
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  expect(ids).toEqual([1001, 1002, 1003, 1004, 1005, 1006, 1007].map((id) => `cust-${id}`));
});

test.each(["x", "Y3VzdG9tZXJzOjk5"])(
  "the unknown cursor %s is refused without a body",
  async (cursor) => {
    const service = await runningService();
    const { status, body } = await ask(
      service,
      `${customers}?cursor=${cursor}`,
      bearing(sampleAccessToken),
    );
    expect([status, body]).toEqual([400, ""]);
  },
);

test("a reputation-share case is not wrapped in an envelope", async () => {
  const service = await runningService();
  const answer = await askJson(service, "/beta/guardian-ops/rep-share/cases/case-2001");
  expect(repShareCaseSchema.parse(answer)).toEqual({
    id: "case-2001",
    customer_id: "cust-1001",
    tenant_id: "tenant-a",
    event_count: 42,
    event_types: ["credentials:brute-force", "spam"],
    event_ips: ["192.0.2.1", "192.0.2.15", "2001:db8::bad:1"],
    first_event_date: "2024-05-28T08:00:00Z",
    last_event_date: "2024-05-30T21:40:08Z",
    state: "NEW",
  });
});

test("an unknown reputation-share case gets 404 without a body", async () => {
  const service = await runningService();
  const { status, body } = await ask(service, "/beta/guardian-ops/rep-share/cases/nope");
  expect([status, body]).toEqual([404, ""]);
});

test("a case's context holds the subscriber's data", async () => {
  const service = await runningService();
  const path = "/api/v1/cases/case-2001/context";
  const context = caseContextSchema.parse(await askJson(service, path, bearing(sampleCaseApiKey)));
  expect(context.s?.resolver_data).toMatchObject({ CustomerEmail: "ada@example.com" });
});

test.each<[string, RequestInit]>([
  ["no credential", {}],
  ["another key", bearing("other")],
])("a context with %s is refused with 401 and Authentication Failed", async (_, init) => {
  const service = await runningService();
  const { status, body } = await ask(service, "/api/v1/cases/case-2001/context", init);
  expect([status, body]).toEqual([401, '{"message":"Authentication Failed"}']);
});
