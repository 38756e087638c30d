import { expect, test } from "vitest";
import { InterruptedError } from "../../../src/core/errors.js";
import { memberTexts } from "../../../src/core/json-members.js";
import { enrichHere } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { reply, type ScriptedServer, startScriptedServer } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
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

const settings = { rate: "100000/s", concurrency: 4 };
const three = `${[0, 1, 2, 0].map((n) => `{"domain":"${domain(n)}"}`).join("\n")}\n`;

test("rows, including duplicates, have results byte for byte but line breaks", async () => {
  const server = await serving();
  const { text } = await enrichHere({
    input: ["in.ndjson", three],
    output: "out.ndjson",
    intelUrl: server.url,
    settings,
  });
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
  const options = {
    folder,
    input: ["in.ndjson", input],
    output: "out.ndjson",
    intelUrl: server.url,
    clock: new HurriedClock(),
  } as const;
  const first = { ...settings, lookups: "query" };
  await expect(enrichHere({ ...options, settings: first, signal: stop.signal })).rejects.toThrow(
    "SIGINT",
  );
  server.onRequest = () => false;
  const { text } = await enrichHere({ ...options, settings: { ...first, resume: true } });
  const expected = Array.from({ length: 20 }, (_, n) => queryText(domain(n)));
  expect(textsOf(text, "query")).toEqual(expected);
  expect(server.requests.length).toBeLessThanOrEqual(20 + 4);
});

test("a cache filled by a CSV run has results byte for byte", async () => {
  const server = await serving();
  const cache = await temporaryFolder();
  const options = { intelUrl: server.url, settings: { ...settings, cache } };
  await enrichHere({ ...options, input: ["in.csv", `domain\n${domain(0)}\n${domain(1)}\n`] });
  const asked = server.requests.length;
  const { text } = await enrichHere({
    ...options,
    input: ["in.ndjson", `{"domain":"${domain(1)}"}\n`],
    output: "out.ndjson",
  });
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
  const { text } = await enrichHere({
    input: ["in.ndjson", '{"domain":"a.example.com"}\n'],
    output: "out.ndjson",
    intelUrl: server.url,
    settings: { ...settings, lookups: "query", partialRetries: 1 },
    clock: new HurriedClock(),
  });
  expect(textsOf(text, "query")).toEqual([
    '{"item":"a.example.com","type":"DOMAIN","tags":[ "a:b" ],"intent":"none","n":2.0}',
  ]);
});

test("single lookups print results as received", async () => {
  const server = await serving();
  const { stdout } = await runInProcess(["query", domain(0), "--intel-url", server.url, "--json"]);
  expect(textsOf(stdout, "query", "")).toEqual([queryText(domain(0))]);
});
