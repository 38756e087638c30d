import { expect, test } from "vitest";
import { CaseClient, OpsClient } from "../../../src/client/api/ops-client.js";
import { FatalError } from "../../../src/core/errors.js";
import { reply, type Step } from "../../helpers/scripted-server.js";
import { collected, serving } from "./answers.js";

async function opsClient(script: readonly Step[], accessToken?: string) {
  const { server, options } = await serving(script);
  return { server, ops: new OpsClient({ ...options, accessToken }) };
}

async function caseClient(answer: Step, apiKey?: string) {
  const { server, options } = await serving([answer]);
  return { server, cases: new CaseClient({ ...options, apiKey }) };
}

function customers(ids: string[], next?: string | null) {
  const items = ids.map((id) => ({ customer_id: id, tenant_id: "t-1" }));
  return reply(200, { items, next_cursor: next });
}

test("follows the cursors of customers through all pages", async () => {
  const pages = [customers(["a", "b"], "x/1"), customers(["c"])];
  const { ops, server } = await opsClient(pages, "t-1");
  const ids = (await collected(ops.customers())).map((each) => each.customer_id);
  expect(ids).toEqual(["a", "b", "c"]);
  expect(server.requests).toMatchObject([
    { path: "/beta/ops/customers", headers: { authorization: "Bearer t-1" } },
    { path: "/beta/ops/customers?cursor=x%2F1" },
  ]);
});

test.each([undefined, null, ""])("ends the list of customers at the cursor %j", async (next) => {
  const { ops, server } = await opsClient([customers(["a"], next)]);
  await collected(ops.customers());
  expect(server.requests.length).toBe(1);
});

test("treats a body that says so as a rejected token, whatever the status", async () => {
  const { ops } = await opsClient([reply(200, { message: "Authentication Failed" })], "secret");
  await expect(collected(ops.customers())).rejects.toMatchObject({
    code: "authentication_failed",
    message:
      '200 ("Authentication Failed") from the operations interface: the access token was not accepted',
  });
});

test("a reputation-share case is read without an envelope", async () => {
  const body = { id: "c/1", event_ips: ["192.0.2.7"], state: "NEW", extra: {} };
  const { ops, server } = await opsClient([reply(200, body)]);
  expect(await ops.repShareCase("c/1")).toEqual(body);
  expect(server.requests[0]?.path).toBe("/beta/guardian-ops/rep-share/cases/c%2F1");
});

test("a case context is read with the case API key", async () => {
  const body = { s: { resolver_data: { CustomerEmail: "a@example.com" } } };
  const { cases, server } = await caseClient(reply(200, body), "k-1");
  expect(await cases.context("c-1")).toEqual(body);
  expect(server.requests).toMatchObject([
    { path: "/api/v1/cases/c-1/context", headers: { authorization: "Bearer k-1" } },
  ]);
});

test.each([
  [403, ""],
  [200, "<html><h1>Authentication&nbsp;Failed</h1></html>"],
  [200, { s: { resolver_data: {} }, error: "Authentication Failed" }],
  [400, { error: "Authentication Failed" }],
])("explains a rejected key (%i %j) with both steps", async (status, body) => {
  const { cases } = await caseClient(reply(status, body), "secret");
  const error = await cases.context("c-1").catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(FatalError);
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^\d+.* from the case management instance: the API key was not accepted/,
    ) as string,
    hint: expect.stringMatching(
      /Step 1: generate an API key in the Settings tab.*Step 2: use Bearer.*"Authorization: Bearer <API_KEY>"/,
    ) as string,
  });
});

test("accepts data about a failed login as a context", async () => {
  const body = { s: { resolver_data: { Note: "x" } }, title: "Authentication failed 7 times" };
  const { cases } = await caseClient(reply(200, body));
  expect(await cases.context("c-1")).toEqual(body);
});
