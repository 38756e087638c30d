import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { enrich } from "../../../src/jobs/enrich/execute.js";
import { reply, startScriptedServer, type Step } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { failure, ipResult, partialSuccess, success } from "../api/answers.js";
import { runInProcess } from "../../cli/run-in-process.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { jobHere } from "../../helpers/job-here.js";

const key = "k3y-9f8e7d6c/5b4a+3210";
/** The mask of credentials knows more. */
const spellings = [
  key,
  encodeURIComponent(key),
  Buffer.from(key).toString("base64"),
  Buffer.from(key).toString("hex"),
  Array.from(key, (one) => `&#${one.charCodeAt(0)};`).join(""),
];

/** Enriches one address with a key; returns everything that the run left in its folders. */
async function leftBy(step: Step): Promise<string> {
  const server = await startScriptedServer([step]);
  const folder = await temporaryFolder();
  const input = { path: join(folder, "in.csv") };
  await writeFile(input.path, "ip\n192.0.2.7\n");
  const files = { output: join(folder, "out.ndjson"), cache: join(folder, "cache") };
  const settings = { intelUrl: server.url, lookups: "query", partialRetries: 0, ...files };
  await enrich(jobHere({ settings, input, apiKey: key, clock: new HurriedClock() }));
  expect(server.requests[0]?.headers["x-api-key"]).toBe(key);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile());
  const texts = found.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}

test.each<[string, Step]>([
  ["400", reply(400, failure(`no good: ${spellings.join(" ")}`))],
  ["404", reply(404, { message: `x-api-key: ${key} is unknown` })],
  ["418", reply(418, { error: `you sent ${spellings.join(", ")}` })],
  ["200 in its data", reply(200, success({ ...ipResult(), tags: [`key:${key}`, ...spellings] }))],
  ["200 with drift", reply(200, success({ ...ipResult(), intent: key }))],
  ["503 in its data", reply(503, partialSuccess({ ...ipResult(), tags: spellings, asn: null }))],
  ["200 that is no JSON", reply(200, key, { "content-type": key })],
  ["200 in a strange encoding", reply(200, "x", { "content-encoding": key })],
])("a key echoed by the service is stored nowhere %s", async (_status, step) => {
  const left = await leftBy(step);
  for (const spelling of spellings) expect(left).not.toContain(spelling);
  expect(left).toContain("192.0.2.7");
});

test("keeps the rest of the service's message", async () => {
  const left = await leftBy(reply(400, failure(`the key ${key} has expired`)));
  expect(left).toContain("the key [hidden] has expired");
});

test.each([
  ["tags list", reply(200, success([{ name: "a:b", description: key }]))],
  ["tags show a:b", reply(400, failure(`x-api-key: ${key} is not known`))],
  ["query 192.0.2.7", reply(200, success({ ...ipResult(), note: key }))],
  ["query 192.0.2.7", reply(404, { message: key })],
  ["customers", reply(200, { items: [{ customer_id: key, tenant_id: "t" }], next_cursor: "" })],
  ["case show 7", reply(404, { message: `Authorization: Bearer ${key.slice(0, 9)}` })],
])("%s prints no key or token echoed by the service", async (command, step) => {
  const { url } = await startScriptedServer([step]);
  const addresses = { REPUTE_INTEL_URL: url, REPUTE_OPS_URL: url };
  const env = { ...addresses, REPUTE_API_KEY: key, REPUTE_ACCESS_TOKEN: key };
  const { stdout, stderr } = await runInProcess(command.split(" "), { env });
  expect(stdout + stderr).not.toContain(key.slice(0, 9));
  expect(stdout + stderr).toContain("[hidden]");
});
