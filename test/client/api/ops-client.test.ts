import { Pool } from "undici";
import { afterEach, describe, expect, test } from "vitest";
import { CaseClient, OpsClient } from "../../../src/client/api/ops-client.js";
import type { ClientOptions } from "../../../src/client/api/caller.js";
import { FatalError } from "../../../src/core/errors.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { collected } from "./answers.js";
import { reply, type ScriptedServer, startScriptedServer } from "../../helpers/scripted-server.js";

let server: ScriptedServer;
let pool: Pool;

afterEach(() => pool.destroy());

async function options(script: Parameters<typeof startScriptedServer>[0]): Promise<ClientOptions> {
  server = await startScriptedServer(script);
  pool = new Pool(server.url);
  return { baseUrl: server.url, dispatcher: pool, clock: new ManualClock() };
}

function customers(ids: string[], next?: string | null) {
  const items = ids.map((id) => ({ customer_id: id, tenant_id: "t-1" }));
  return reply(200, { items, ...(next === undefined ? {} : { next_cursor: next }) });
}

describe("customers", () => {
  test("follows the cursors through all pages", async () => {
    const ops = new OpsClient({
      ...(await options([customers(["a", "b"], "x/1"), customers(["c"])])),
      accessToken: "t-1",
    });
    const ids = (await collected(ops.customers())).map((each) => each.customer_id);
    expect(ids).toEqual(["a", "b", "c"]);
    expect(server.requests).toMatchObject([
      { path: "/beta/ops/customers", headers: { authorization: "Bearer t-1" } },
      { path: "/beta/ops/customers?cursor=x%2F1" },
    ]);
  });

  test.each([undefined, null, ""])("ends the list at the cursor %j", async (next) => {
    const ops = new OpsClient(await options([customers(["a"], next)]));
    await collected(ops.customers());
    expect(server.requests.length).toBe(1);
  });

  test("treats a body that says so as a rejected token, whatever the status", async () => {
    const body = { message: "Authentication Failed" };
    const ops = new OpsClient({ ...(await options([reply(200, body)])), accessToken: "secret" });
    await expect(collected(ops.customers())).rejects.toMatchObject({
      code: "authentication_failed",
      message:
        '200 ("Authentication Failed") from the operations interface: the access token was not accepted',
    });
  });
});

describe("reputation-share case", () => {
  test("is read without an envelope", async () => {
    const body = { id: "c/1", event_ips: ["192.0.2.7"], state: "NEW", extra: {} };
    const ops = new OpsClient(await options([reply(200, body)]));
    expect(await ops.repShareCase("c/1")).toEqual(body);
    expect(server.requests[0]?.path).toBe("/beta/guardian-ops/rep-share/cases/c%2F1");
  });
});

describe("case context", () => {
  test("is read with the case API key", async () => {
    const body = { s: { resolver_data: { CustomerEmail: "a@example.com" } } };
    const cases = new CaseClient({ ...(await options([reply(200, body)])), apiKey: "k-1" });
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
    const cases = new CaseClient({ ...(await options([reply(status, body)])), apiKey: "secret" });
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
    const cases = new CaseClient(await options([reply(200, body)]));
    expect(await cases.context("c-1")).toEqual(body);
  });
});
