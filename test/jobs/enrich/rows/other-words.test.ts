import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { repute } from "../../../../src/index.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { domainResult, success } from "../../../client/api/answers.js";

/** Intent and blocklist status by item: words that the interface doesn't list, and two that it does. */
const words: Readonly<Record<string, readonly [intent: unknown, listed: unknown]>> = {
  "upper.example.com": ["MALICIOUS", "NOT_LISTED"],
  "critical.example.com": ["critical", "NOT_LISTED"],
  "empty.example.com": ["", "NOT_LISTED"],
  "blocked.example.com": ["none", "BLOCKED"],
  "listed.example.com": ["critical", "ACTIVE"],
  "known.example.com": ["none", "NOT_LISTED"],
};
const items = Object.keys(words);
const verdicts = { malicious: 0, suspicious: 0, listed: 1, none: 1, unknown: 4 };
const warning = /answer with an intent or mail blocklist status that the interface does not list/;

let folder: string;
let url: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  const server = await startScriptedServer(({ path }) => {
    const [, endpoint, item = ""] = /([^/]+)\/([^/]+)$/.exec(path)!;
    const [intent, serviceMailBlocklist] = words[item] ?? ["none", "NOT_LISTED"];
    const result = { ...domainResult(), item, intent, serviceMailBlocklist };
    const quick = { item, type: "DOMAIN", bogon: false, activity: false };
    return reply(
      200,
      success(endpoint === "query" ? result : { ...quick, intent, serviceMailBlocklist }),
    );
  });
  url = `${server.url}/beta`;
  await writeFile(join(folder, "in.csv"), `item\n${items.join("\n")}\n`);
});

const run = (...args: readonly string[]) => runRepute(args, { cwd: folder });

test("a run counts such answers, and rows, manifest, metrics and report have no verdict", async () => {
  const files = ["--report", "r.html", "--metrics", "m.prom", "--cache", "cache"];
  const done = await run("enrich", "in.csv", "-o", "out.csv", ...files, "--intel-url", url);
  expect(done.code).toBe(0);
  expect(done.stderr).toMatch(warning);
  expect(done.stderr).toMatch(/none \(5 times, first in row 1\)/);
  const rows = (await readFile(join(folder, "out.csv"), "utf8")).split("\n");
  const verdictAt = rows[0]!.split(",").indexOf("rep_verdict");
  expect(rows.slice(1, -1).map((row) => row.split(",")[verdictAt])).toEqual([
    "",
    "",
    "",
    "",
    "listed",
    "none",
  ]);
  const manifest = JSON.parse(await readFile(join(folder, "out.csv.manifest.json"), "utf8"));
  expect(manifest.verdicts).toEqual(verdicts);
  expect(manifest.drift).toMatchObject({ "intent=critical": 4, "serviceMailBlocklist=BLOCKED": 2 });
  expect(await readFile(join(folder, "m.prom"), "utf8")).toMatch(/verdict="unknown"\} 4\n/);
  expect(await readFile(join(folder, "r.html"), "utf8")).toContain(
    "the answer has an intent or blocklist status that the interface does not list",
  );
  const cached = await run(
    "enrich",
    "in.csv",
    "-o",
    "o.ndjson",
    "--cache",
    "cache",
    "--intel-url",
    url,
  );
  expect(cached.stderr).toMatch(warning);
  expect((await run("verify", "out.csv")).code).toBe(0);
});

test("a retry keeps such rows without a verdict", async () => {
  await run("enrich", "in.csv", "-o", "out.csv", "--intel-url", url);
  const before = await readFile(join(folder, "out.csv"), "utf8");
  const retried = await run("retry", "out.csv", "-o", "again.csv", "--intel-url", url);
  expect(retried.code).toBe(0);
  expect(await readFile(join(folder, "again.csv"), "utf8")).toBe(before);
  const manifest = JSON.parse(await readFile(join(folder, "again.csv.manifest.json"), "utf8"));
  expect(manifest.verdicts).toEqual(verdicts);
});

test.each(["query", "quick-check"])("%s says so", async (command) => {
  const asked = await run(command, ...items, "--intel-url", url);
  expect(asked.stderr).toMatch(warning);
  expect(asked.stderr).toContain("(5 times)");
  const found = asked.stdout.trim().split("\n");
  expect(found.map((line) => JSON.parse(line).verdict)).toEqual([
    null,
    null,
    null,
    null,
    "listed",
    "none",
  ]);
});

test("the library's verdict is null", async () => {
  const warnings: string[] = [];
  const client = repute({ url, onWarning: (message) => void warnings.push(message) });
  expect((await client.lookup("upper.example.com")).verdict).toBeNull();
  expect((await client.lookup("known.example.com")).verdict).toBe("none");
  await client.close();
  expect(warnings).toEqual([expect.stringMatching(warning)]);
});
