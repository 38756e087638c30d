import { expect, test } from "vitest";
import type { FireWebhook } from "../../src/service/cases.js";
import { ask, askJson, runningService, sending } from "./running-service.js";

const move = "/_local/cases/case-2001/transition";
const endpoint = "https://hooks.example.com";
const added = { name: "Added", endpoint, method: "PATCH", payload: "hello" };

function recorder(answer: Awaited<ReturnType<FireWebhook>> = { status: 204 }) {
  const calls: Parameters<FireWebhook>[] = [];
  const fireWebhook: FireWebhook = async (...call) => {
    calls.push(call);
    return answer;
  };
  return { calls, fireWebhook };
}

test("a transition without webhooks fires nothing, and the case has its new state", async () => {
  const { calls, fireWebhook } = recorder();
  const service = await runningService({ fireWebhook });
  await ask(service, move, sending("POST", { state: "RESOLVED" }));
  expect(calls).toEqual([]);
  const path = "/beta/guardian-ops/rep-share/cases/case-2001";
  expect(await askJson(service, path)).toMatchObject({ state: "RESOLVED" });
});

test("all webhooks attached to a state fire, whatever the previous state", async () => {
  const { calls, fireWebhook } = recorder();
  const service = await runningService({ fireWebhook });
  const attach = { to: "CLOSED", webhook: "Block line" };
  await ask(service, "/_local/transitions", sending("POST", attach));
  await ask(service, move, sending("POST", { state: "CLOSED" }));
  expect(calls.map(([webhook]) => webhook.name)).toEqual(["Tell the chat", "Block line"]);
});

test("reports a webhook that could not be called, and still changes the case", async () => {
  const fireWebhook: FireWebhook = async () => {
    throw new Error("connection refused");
  };
  const service = await runningService({ fireWebhook });
  expect(await askJson(service, move, sending("POST", { state: "IN_PROGRESS" }))).toMatchObject({
    to: "IN_PROGRESS",
    fired: [{ webhook: "Notify subscriber", status: null, error: "connection refused" }],
  });
});

test("a service that cannot call webhooks says so", async () => {
  const service = await runningService();
  expect(await askJson(service, move, sending("POST", { state: "IN_PROGRESS" }))).toMatchObject({
    fired: [{ status: null, error: expect.stringContaining("without fireWebhook") as string }],
  });
});

test("webhooks are stored, replaced by name, listed and attached to transitions", async () => {
  const { calls, fireWebhook } = recorder();
  const service = await runningService({ fireWebhook });
  await ask(service, "/_local/webhooks", sending("POST", { ...added, method: "PUT" }));
  const stored = await ask(service, "/_local/webhooks", sending("POST", added));
  const attach = { from: "NEW", to: "RESOLVED", webhook: "Added" };
  const attached = await ask(service, "/_local/transitions", sending("POST", attach));
  await ask(service, move, sending("POST", { state: "RESOLVED" }));
  expect([stored.status, attached.status]).toEqual([201, 201]);
  const webhooks = await askJson<{ name: string }[]>(service, "/_local/webhooks");
  expect(webhooks.filter(({ name }) => name === "Added")).toEqual([added]);
  expect(await askJson(service, "/_local/transitions")).toContainEqual(attach);
  expect(calls.map(([webhook]) => webhook)).toEqual([added]);
});

test.each([
  ["/_local/webhooks", { ...added, method: "FETCH" }, 400],
  ["/_local/transitions", { to: "CLOSED", webhook: "no such" }, 404],
  [move, { state: "OPEN" }, 400],
  [move, { state: "NEW" }, 409],
  ["/_local/cases/nope/transition", { state: "CLOSED" }, 404],
])("POST %s with %j is refused in JSON", async (path, value, expected) => {
  const service = await runningService();
  const { status, body } = await ask(service, path, sending("POST", value));
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({ message: expect.any(String) as string });
});
