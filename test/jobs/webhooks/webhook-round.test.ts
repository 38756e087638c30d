import { expect, onTestFinished, test } from "vitest";
import { reply, startScriptedServer, type Step } from "../../helpers/scripted-server.js";
import { serveHere } from "../../helpers/serve-here.js";

/** `repute serve` with a webhook to the test's receiver, attached to NEW → RESOLVED. */
async function stage(steps: readonly Step[], payload: unknown) {
  const receiver = await startScriptedServer(steps);
  const { line, stop } = await serveHere(["--json"]);
  onTestFinished(() => void stop());
  const { ops_url: url } = JSON.parse(line) as { ops_url: string };
  await post(`${url}/_local/webhooks`, {
    name: "Round",
    endpoint: `${receiver.url}/api`,
    method: "PUT",
    path: "/notices",
    payload,
  });
  await post(`${url}/_local/transitions`, { from: "NEW", to: "RESOLVED", webhook: "Round" });
  return { receiver, url };
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return answer.json();
}

function move(url: string): Promise<unknown> {
  return post(`${url}/_local/cases/case-2001/transition`, { state: "RESOLVED" });
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
