import { appendFile, cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleDataset } from "../../../src/service/dataset.js";
import { reply, startScriptedServer, type Step } from "../../helpers/scripted-server.js";
import { serveHere } from "../../helpers/serve-here.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** `repute serve` with a webhook to the test's receiver, attached to NEW → RESOLVED. */
async function stage(steps: readonly Step[], payload: unknown) {
  const receiver = await startScriptedServer(steps);
  const folder = await temporaryFolder();
  await cp(sampleDataset, folder, { recursive: true });
  const webhook = {
    name: "Round",
    endpoint: `${receiver.url}/api`,
    method: "PUT",
    path: "/notices",
    payload,
  };
  const transition = { from: "NEW", to: "RESOLVED", webhook: "Round" };
  await appendFile(join(folder, "webhooks.ndjson"), `${JSON.stringify(webhook)}\n`);
  await appendFile(join(folder, "transitions.ndjson"), `${JSON.stringify(transition)}\n`);
  const { line, stop } = await serveHere(["--json", "--dataset", folder]);
  onTestFinished(() => void stop());
  const { ops_url: url } = JSON.parse(line) as { ops_url: string };
  return { receiver, url };
}

async function move(url: string): Promise<unknown> {
  const answer = await fetch(`${url}/_local/cases/case-2001/transition`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state: "RESOLVED" }),
  });
  return answer.json();
}

test("calls the receiver with method, path, header and rendered body when a case changes state", async () => {
  const { receiver, url } = await stage([reply(202, {})], {
    to: "{{ s.resolver_data.CustomerEmail }}",
    subject: "Contract {{ s.resolver_data.Contract.Number }}",
    lines: "{{ s.resolver_data.LineIds }}",
    business: "{{ s.resolver_data.Business }}",
  });
  const report = await move(url);
  expect(report).toEqual({
    case: "case-2001",
    from: "NEW",
    to: "RESOLVED",
    fired: [{ webhook: "Round", status: 202 }],
  });
  expect(receiver.requests).toHaveLength(1);
  const [request] = receiver.requests;
  expect([request?.method, request?.path]).toEqual(["PUT", "/api/notices"]);
  expect(request?.headers).toMatchObject({
    "content-type": "application/json",
    "idempotency-key": expect.stringMatching(/^[\da-f-]{36}$/) as string,
  });
  expect(JSON.parse(request?.body ?? "")).toEqual({
    to: "ada@example.com",
    subject: "Contract 48213",
    lines: ["line-11", "line-12"],
    business: false,
  });
});

test("reports a payload with a field missing from the context, and does not send it", async () => {
  const { receiver, url } = await stage([], { to: "{{ s.resolver_data.Mail }}" });
  const error = expect.stringContaining("s.resolver_data.CustomerEmail") as string;
  expect(await move(url)).toMatchObject({ to: "RESOLVED", fired: [{ status: null, error }] });
  expect(receiver.requests).toEqual([]);
});
