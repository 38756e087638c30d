import { beforeEach, expect, test } from "vitest";
import { repute } from "../../../../src/index.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { type Workspace, workspace } from "../../../helpers/workspace.js";
import { domainResult, success } from "../../../client/api/answers.js";

/** Items with their intent and blocklist status: words that the interface doesn't list, and two that it does. */
const words: readonly (readonly [item: string, intent: string, listed: string, verdict: string])[] =
  [
    ["upper.example.com", "MALICIOUS", "NOT_LISTED", ""],
    ["critical.example.com", "critical", "NOT_LISTED", ""],
    ["empty.example.com", "", "NOT_LISTED", ""],
    ["blocked.example.com", "none", "BLOCKED", ""],
    ["listed.example.com", "critical", "ACTIVE", "listed"],
    ["known.example.com", "none", "NOT_LISTED", "none"],
  ];
const items = words.map(([item]) => item);
const verdictsOfItems = words.map(([, , , verdict]) => verdict);
const verdicts = { malicious: 0, suspicious: 0, listed: 1, none: 1, unknown: 4 };
const warning = /answer with an intent or mail blocklist status that the interface does not list/;

let place: Workspace;
let url: string;

beforeEach(async () => {
  place = await workspace({ "in.csv": `item\n${items.join("\n")}\n` });
  const server = await startScriptedServer(({ path }) => {
    const [, endpoint, item = ""] = /([^/]+)\/([^/]+)$/.exec(path)!;
    const [, intent, serviceMailBlocklist] = words.find(([each]) => each === item)!;
    const result = { ...domainResult(), item, intent, serviceMailBlocklist };
    const quick = { item, type: "DOMAIN", bogon: false, activity: false };
    return reply(
      200,
      success(endpoint === "query" ? result : { ...quick, intent, serviceMailBlocklist }),
    );
  });
  url = `${server.url}/beta`;
});

const run = (...args: readonly string[]) => place.run(...args, "--intel-url", url);
const read = (name: string) => place.read(name);

test("a run counts such answers, and rows, manifest, metrics and report have no verdict", async () => {
  const files = ["--report", "r.html", "--metrics", "m.prom", "--cache", "cache"];
  const done = await run("enrich", "in.csv", "-o", "out.csv", ...files);
  expect(done.code).toBe(0);
  expect(done.stderr).toMatch(warning);
  expect(done.stderr).toMatch(/none \(5 times, first in row 1\)/);
  const rows = await place.records();
  expect(rows.map((row) => row["rep_verdict"])).toEqual(verdictsOfItems);
  const manifest = await place.manifest("out.csv");
  expect(manifest.verdicts).toEqual(verdicts);
  expect(manifest.drift).toMatchObject({ "intent=critical": 4, "serviceMailBlocklist=BLOCKED": 2 });
  expect(await read("m.prom")).toMatch(/verdict="unknown"\} 4\n/);
  expect(await read("r.html")).toContain(
    "the answer has an intent or blocklist status that the interface does not list",
  );
  const cached = await run("enrich", "in.csv", "-o", "o.ndjson", "--cache", "cache");
  expect(cached.stderr).toMatch(warning);
  expect((await place.run("verify", "out.csv")).code).toBe(0);
});

test("a retry keeps such rows without a verdict", async () => {
  await run("enrich", "in.csv", "-o", "out.csv");
  const before = await read("out.csv");
  const retried = await run("retry", "out.csv", "-o", "again.csv");
  expect(retried.code).toBe(0);
  expect(await read("again.csv")).toBe(before);
  const manifest = await place.manifest("again.csv");
  expect(manifest.verdicts).toEqual(verdicts);
});

test.each(["query", "quick-check"])("%s says so", async (command) => {
  const asked = await run(command, ...items);
  expect(asked.stderr).toMatch(warning);
  expect(asked.stderr).toContain("(5 times)");
  const found = asked.stdout.trim().split("\n");
  expect(found.map((line) => JSON.parse(line).verdict ?? "")).toEqual(verdictsOfItems);
});

test("the library's verdict is null", async () => {
  const warnings: string[] = [];
  const client = repute({ url, onWarning: (message) => void warnings.push(message) });
  expect((await client.lookup("upper.example.com")).verdict).toBeNull();
  expect((await client.lookup("known.example.com")).verdict).toBe("none");
  await client.close();
  expect(warnings).toEqual([expect.stringMatching(warning)]);
});
