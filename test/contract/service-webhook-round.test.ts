import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import type { FireWebhook } from "../../src/service/cases.js";
import { sendWebhook } from "../../src/webhooks/send.js";
import { reply, startScriptedServer, type RecordedRequest } from "../helpers/scripted-server.js";
import { ask, askJson, runningService, sending } from "../unit/service/running-service.js";

/** A service that calls webhooks like `repute webhook send`, and a receiver for them. */
async function round(payload: unknown) {
  const receiver = await startScriptedServer([reply(202, {})]);
  onTestFinished(() => receiver.close());
  const fireWebhook: FireWebhook = async (webhook, context) => {
    const apiKeys = [{ origin: receiver.url, key: "sample-key" }];
    const options = { clock: systemClock, apiKeys };
    const { status, error } = await sendWebhook(webhook, context, options);
    return { status, error: error?.message };
  };
  const service = await runningService({ fireWebhook });
  const webhook = {
    name: "Round",
    endpoint: receiver.url,
    method: "PUT",
    path: "/notices",
    payload,
  };
  await ask(service, "/_local/webhooks", sending("POST", webhook));
  const transition = { from: "NEW", to: "RESOLVED", webhook: "Round" };
  await ask(service, "/_local/transitions", sending("POST", transition));
  const path = "/_local/cases/case-2001/transition";
  const report = await askJson(service, path, sending("POST", { state: "RESOLVED" }));
  return { report, request: receiver.requests[0] as RecordedRequest };
}

test("a case that changes its state calls the receiver with the subscriber's data", async () => {
  const { report, request } = await round({
    to: "{{ s.resolver_data.CustomerEmail }}",
    subject: "Contract {{ s.resolver_data.Contract.Number }}",
    lines: "{{ s.resolver_data.LineIds }}",
  });
  expect(report).toMatchObject({ fired: [{ webhook: "Round", status: 202 }] });
  expect([request.method, request.path]).toEqual(["PUT", "/notices"]);
  expect(request.headers).toMatchObject({
    authorization: "Bearer sample-key",
    "content-type": expect.stringContaining("application/json") as string,
    "idempotency-key": expect.any(String) as string,
  });
  expect(JSON.parse(request.body)).toEqual({
    to: "ada@example.com",
    subject: "Contract 48213",
    lines: ["line-11", "line-12"],
  });
});

test("a payload with a field missing from the context is reported and not sent", async () => {
  const { report, request } = await round({ to: "{{ s.resolver_data.Mail }}" });
  expect(report).toMatchObject({
    to: "RESOLVED",
    fired: [
      { status: null, error: expect.stringContaining("s.resolver_data.CustomerEmail") as string },
    ],
  });
  expect(request).toBeUndefined();
});
