import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { domainResult, failure, success } from "../../../client/api/answers.js";
import { workspace } from "../../../helpers/workspace.js";

const forged = "x:y\nrepute: forged\r\n  forged\u2028forged\u001B[2K\u202E";

/** What a command prints on stderr if the service has such a text wherever it can have one. */
async function stderrOf(args: readonly string[]): Promise<string> {
  const server = await startScriptedServer(({ path }) => {
    if (path.includes("bad.example")) return reply(400, failure(forged));
    if (path.includes("/tags/")) return reply(404, { message: forged });
    if (path.includes("/tags")) return reply(200, success([{ name: forged, description: forged }]));
    const facts = { intent: forged, serviceMailBlocklist: forged, lastSeen: forged };
    const result = { ...domainResult(), item: "a.example.com", tags: [forged], ...facts };
    return path.includes("/query/") ? reply(200, success(result)) : reply(404, { message: forged });
  });
  const env = { REPUTE_OPS_URL: server.url, REPUTE_ACCESS_TOKEN: "a-token-of-tests" };
  const input = "item\na.example.com\nbad.example.com\n";
  const { run } = await workspace({ "in.csv": input }, { env });
  return (await run(...args, "--intel-url", server.url, "--retries", "0")).stderr;
}

test.each([
  ["enrich", "in.csv", "-o", "out.csv", "--lookups", "query", "--tag-ips", "lists"],
  ["tags", "export", "--all", "-o", "lists"],
  ["tags", "show", "x:y"],
  ["tags", "ips", "x:y"],
])("no text of the service forges a line of %s %s", async (...args) => {
  const stderr = await stderrOf(args);
  expect(stderr).toContain("forged");
  expect(stderr).not.toMatch(/^repute: forged/m);
  expect(["\r", "\u2028", "\u001B", "\u202E"].filter((one) => stderr.includes(one))).toEqual([]);
});
