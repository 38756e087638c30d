import { expect, onTestFinished, test } from "vitest";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { serveHere } from "../../helpers/serve-here.js";

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return answer.json();
}

test("a case that changes state calls its webhooks, but none that lacks a field of the context", async () => {
  const receiver = await startScriptedServer([reply(202, {})]);
  const { line, stop } = await serveHere(["--json"]);
  onTestFinished(() => void stop());
  const { ops_url: url } = JSON.parse(line) as { ops_url: string };
  const round = {
    to: "{{ s.resolver_data.CustomerEmail }}",
    subject: "Contract {{ s.resolver_data.Contract.Number }}",
    lines: "{{ s.resolver_data.LineIds }}",
    business: "{{ s.resolver_data.Business }}",
  };
  const call = { endpoint: `${receiver.url}/api`, method: "PUT", path: "/notices" };
  for (const [name, payload] of Object.entries({ round, lacking: "{{ s.resolver_data.Mail }}" })) {
    await post(`${url}/_local/webhooks`, { name, ...call, payload });
    await post(`${url}/_local/transitions`, { from: "NEW", to: "RESOLVED", webhook: name });
  }
  const error = expect.stringContaining("s.resolver_data.CustomerEmail") as string;
  const move = `${url}/_local/cases/case-2001/transition`;
  expect(await post(move, { state: "RESOLVED" })).toEqual({
    case: "case-2001",
    from: "NEW",
    to: "RESOLVED",
    fired: [
      { webhook: "round", status: 202 },
      { webhook: "lacking", status: null, error },
    ],
  });
  expect(receiver.requests).toMatchObject([
    {
      method: "PUT",
      path: "/api/notices",
      headers: {
        "content-type": "application/json",
        "idempotency-key": expect.stringMatching(/^[\da-f-]{36}$/) as string,
      },
    },
  ]);
  expect(JSON.parse(receiver.requests[0]?.body ?? "")).toEqual({
    to: "ada@example.com",
    subject: "Contract 48213",
    lines: ["line-11", "line-12"],
    business: false,
  });
});
