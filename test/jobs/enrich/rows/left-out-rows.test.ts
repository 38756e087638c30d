import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const distinct = 60;

/** Each item twice and more, in an order without a pattern, and a row without an item in 49. */
function rows(): string {
  const items = Array.from({ length: 240 }, (_, n) =>
    n % 49 === 0 ? "" : `host-${(n * 7919) % distinct}.example.com`,
  );
  return `id,item\n${items.map((item, n) => `${n},${item}\n`).join("")}`;
}

async function enrichHere(
  { url }: AnsweringServer,
  cwd: string,
  args: readonly string[],
  code = 0,
): Promise<void> {
  const service = ["--intel-url", url, "--lookups", "query", "--rate", "1000000/s", "--quiet"];
  expect(await runRepute(["enrich", ...args, ...service], { cwd })).toMatchObject({ code });
}

async function idsAndCounts(cwd: string, out: string) {
  const lines = (await readFile(join(cwd, out), "utf8")).trimEnd().split("\n").slice(1);
  const text = await readFile(join(cwd, `${out}.manifest.json`), "utf8");
  const { input, output, left_out } = JSON.parse(text) as Manifest;
  const ids = lines.map((line) => Number(line.split(",")[0]));
  return { ids: ids.sort((a, b) => a - b), rows: input.rows, written: output.rows, left_out };
}

test("a run that is killed and resumed leaves out the same rows", async () => {
  const server = await startAnsweringServer();
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), rows());
  const args = (out: string) => ["in.csv", "-o", out, "--distinct"];
  const resume = [...args("out.csv"), "--resume"];
  // Stopped first with a checkpoint behind some of the rows, then killed.
  await enrichHere(server, cwd, [...resume, "--max-requests", "20"], 75);
  await enrichKilled({ server, cwd, args: resume, kill: { requests: 40, ms: 20 } });
  await enrichHere(server, cwd, resume);
  await enrichHere(server, cwd, args("whole.csv"));
  const whole = await idsAndCounts(cwd, "whole.csv");
  expect(whole).toMatchObject({ rows: 240, written: distinct });
  expect(whole.left_out).toMatchObject({ distinct: 240 - distinct, only: 0 });
  expect(await idsAndCounts(cwd, "out.csv")).toEqual(whole);
});

test("a --distinct run that is resumed needs no cache for the rows that it writes again", async () => {
  const server = await startAnsweringServer();
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), rows());
  const cache = ["--cache", "cache"];
  await enrichHere(server, cwd, ["in.csv", "-o", "first.csv", "--limit", "40", ...cache]);
  const asked = server.total;
  const args = ["in.csv", "-o", "out.csv", "--distinct", "--resume"];
  await enrichHere(server, cwd, [...args, ...cache, "--max-requests", "10"], 75);
  // An answer in the cache expires before the run continues.
  await enrichHere(server, cwd, [...args, ...cache, "--cache-ttl", "1s"], 0);
  expect([asked < distinct, server.total, server.asked.size]).toEqual([true, distinct, distinct]);
  const resumed = await readFile(join(cwd, "out.csv"), "utf8");
  expect(resumed.match(/,cache,/g)).toHaveLength(asked);
});

test("rows that are left out count for --fail-on", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "item\nhost.example.com\n{}\n");
  const local = ["--local", "--quiet", "--fail-on", "unsupported"];
  const args = ["enrich", "in.csv", "-o", "out.csv", "--only", "malicious", ...local];
  expect(await runRepute(args, { cwd })).toMatchObject({ code: 3 });
  expect((await readFile(join(cwd, "out.csv"), "utf8")).split("\n")).toHaveLength(2);
});

test.each([
  ["failed", ["2"]],
  ["malicious,failed", ["1", "2"]],
  ["unsupported,complete", ["0", "1", "3"]],
  ["unknown", ["2", "3"]],
  ["listed,partial", []],
])("--only %s takes verdicts and statuses, and counts the others by both", async (only, ids) => {
  const server = await startAnsweringServer();
  server.malicious.add("bad.example.com");
  server.absent.add("gone.example.com");
  const cwd = await temporaryFolder();
  const items = ["a.example.com", "bad.example.com", "gone.example.com", "setup.exe"];
  await writeFile(
    join(cwd, "in.csv"),
    `id,item\n${items.map((each, n) => `${n},${each}\n`).join("")}`,
  );
  await enrichHere(server, cwd, ["in.csv", "-o", "out.csv", "--only", only, "--fail-on", "never"]);
  const found = await idsAndCounts(cwd, "out.csv");
  expect(found.ids.map(String)).toEqual(ids);
  expect(found.left_out).toMatchObject({ only: items.length - ids.length, distinct: 0 });
  const { statuses } = found.left_out!;
  expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBe(items.length - ids.length);
});
