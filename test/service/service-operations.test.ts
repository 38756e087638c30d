import { expect, test } from "vitest";
import { customersPageSchema } from "../../src/client/api/calls.js";
import { sampleAccessToken } from "../../src/service/service.js";
import { ask, askJson, bearing, runningService } from "./running-service.js";

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

test.each<[string, RequestInit]>([
  ["no credential", {}],
  ["another key", bearing("other")],
])("a context with %s is refused with 401 and Authentication Failed", async (_, init) => {
  const service = await runningService();
  const { status, body } = await ask(service, "/api/v1/cases/case-2001/context", init);
  expect([status, body]).toEqual([401, '{"message":"Authentication Failed"}']);
});
