import { expect, test } from "vitest";
import type { FireWebhook } from "../../src/service/cases.js";
import { loadDataset, sampleDataset } from "../../src/service/dataset.js";
import { ask, askJson, runningService, sending } from "./running-service.js";

const move = "/_local/cases/case-2001/transition";
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
  const dataset = await loadDataset(sampleDataset);
  const transitions = [...dataset.transitions, { to: "CLOSED", webhook: "Block line" } as const];
  const service = await runningService({ fireWebhook, dataset: { ...dataset, transitions } });
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

test.each([
  [move, { state: "OPEN" }, 400],
  [move, { state: "NEW" }, 409],
  ["/_local/cases/nope/transition", { state: "CLOSED" }, 404],
])("POST %s with %j is refused in JSON", async (path, value, expected) => {
  const service = await runningService();
  const { status, body } = await ask(service, path, sending("POST", value));
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toEqual({ message: expect.any(String) as string });
});
