import { expect, test } from "vitest";
import { InterruptedError } from "../../../src/core/errors.js";
import { memberTexts } from "../../../src/core/json-members.js";
import { enrichHere, type EnrichHereOptions } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { reply, type ScriptedServer, startScriptedServer } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { column } from "../../helpers/workspace.js";
import { runInProcess } from "../../cli/run-in-process.js";

/** What parsing and serialising would change: digits, white space, duplicate and unsafe members. */
const oddities =
  '"n" : [1.0,-0, 1e400,123456789012345678901234567890, 0.1e-7 ],"__proto__":{"a":1},"é":"\\u00e9\\/","é":2';

function queryText(item: string, intent = '"none"'): string {
  return `{ "item":"${item}","type":"DOMAIN","serviceMailBlocklist":null,"tags":[],"firstSeen":null,"lastSeen":null,"intent":${intent},"observedActivity":null,${oddities} }`;
}

function quickText(item: string): string {
  return `{"item":"${item}","type":"DOMAIN","activity":true, ${oddities}}`;
}

function domain(n: number): string {
  return `d${n}.example.com`;
}

interface Service extends ScriptedServer {
  /** Called for each request; true leaves it unanswered. */
  onRequest: () => boolean;
}

/** Answers every lookup; results of queries have line breaks between their members. */
async function serving(): Promise<Service> {
  const state = { onRequest: () => false };
  const server = await startScriptedServer(({ path }) => {
    if (state.onRequest()) return () => undefined;
    const item = path.slice(path.lastIndexOf("/") + 1);
    if (!path.startsWith("/query/")) return reply(200, envelope(quickText(item)));
    return reply(200, envelope(queryText(item).replaceAll(",", ",\r\n")));
  });
  return Object.assign(state, { ...server });
}

function envelope(result: string): string {
  return `{"status":"success",\n"result": ${result} ,"statusCode":200}`;
}

/** The texts of a member of `rep` in the rows of nested NDJSON. */
function textsOf(ndjson: string, member: string, of = "rep"): (string | undefined)[] {
  const lines = ndjson.trimEnd().split("\n");
  return lines.map((line) => {
    const own = of === "" ? line : (memberTexts(line).get(of) ?? "{}");
    return memberTexts(own).get(member);
  });
}

type Options = Omit<EnrichHereOptions, "input" | "intelUrl">;

/** Enriches records, as NDJSON unless the options say otherwise. */
function enriched({ url }: ScriptedServer, text: string, { settings, ...more }: Options = {}) {
  return enrichHere({
    input: ["in.ndjson", text],
    output: "out.ndjson",
    intelUrl: url,
    ...more,
    settings: { concurrency: 4, ...settings },
  });
}

const three = `${[0, 1, 2, 0].map((n) => `{"domain":"${domain(n)}"}`).join("\n")}\n`;

test("rows, including duplicates, have results byte for byte but line breaks", async () => {
  const server = await serving();
  const { text } = await enriched(server, three);
  expect(textsOf(text, "query")).toEqual([0, 1, 2, 0].map((n) => queryText(domain(n))));
  expect(textsOf(text, "quick_check")).toEqual([0, 1, 2, 0].map((n) => quickText(domain(n))));
});

test("a resumed run writes results from its journal byte for byte", async () => {
  const server = await serving();
  const folder = await temporaryFolder();
  const stop = new AbortController();
  let asked = 0;
  // The first request stays unanswered, so that the rows behind it are journalled but not written.
  server.onRequest = () => {
    asked++;
    if (asked === 20) stop.abort(new InterruptedError("SIGINT"));
    return asked === 1;
  };
  const input = Array.from({ length: 20 }, (_, n) => `{"domain":"${domain(n)}"}\n`).join("");
  const options = { folder, clock: new HurriedClock() };
  const settings = { lookups: "query" };
  const stopped = enriched(server, input, { ...options, settings, signal: stop.signal });
  await expect(stopped).rejects.toThrow("SIGINT");
  server.onRequest = () => false;
  const resumed = { ...options, settings: { ...settings, resume: true } };
  const { text } = await enriched(server, input, resumed);
  const expected = Array.from({ length: 20 }, (_, n) => queryText(domain(n)));
  expect(textsOf(text, "query")).toEqual(expected);
  expect(server.requests.length).toBeLessThanOrEqual(20 + 4);
});

test("a cache filled by a CSV run has results byte for byte", async () => {
  const server = await serving();
  const settings = { cache: await temporaryFolder() };
  const input = ["in.csv", column("domain", [domain(0), domain(1)])] as const;
  await enrichHere({ input, intelUrl: server.url, settings });
  const asked = server.requests.length;
  const { text } = await enriched(server, `{"domain":"${domain(1)}"}\n`, { settings });
  expect(server.requests).toHaveLength(asked);
  expect(textsOf(text, "query")).toEqual([queryText(domain(1))]);
  expect(textsOf(text, "quick_check")).toEqual([quickText(domain(1))]);
});

test("a merged partial answer has members as received", async () => {
  const partial = (result: string) =>
    reply(503, `{"status":"partial_success","statusCode":503,"result":${result},"errors":{}}`);
  const server = await startScriptedServer([
    partial('{"item":"a.example.com","type":"DOMAIN","tags":[ "a:b" ],"intent":null,"n":1.0}'),
    partial('{"item":"a.example.com","type":"DOMAIN","tags":null,"intent": "none","n":2.0}'),
  ]);
  const settings = { lookups: "query", partialRetries: 1 };
  const options = { settings, clock: new HurriedClock() };
  const { text } = await enriched(server, '{"domain":"a.example.com"}\n', options);
  expect(textsOf(text, "query")).toEqual([
    '{"item":"a.example.com","type":"DOMAIN","tags":[ "a:b" ],"intent":"none","n":2.0}',
  ]);
});

test("single lookups print results as received", async () => {
  const server = await serving();
  const { stdout } = await runInProcess(["query", domain(0), "--intel-url", server.url, "--json"]);
  expect(textsOf(stdout, "query", "")).toEqual([queryText(domain(0))]);
});
