import { expect, test } from "vitest";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { type Workspace, workspace } from "../../../helpers/workspace.js";

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
  { run }: Workspace,
  args: readonly string[],
  code = 0,
): Promise<void> {
  const service = ["--intel-url", url, "--lookups", "query", "--rate", "1000000/s", "--quiet"];
  expect(await run("enrich", ...args, ...service)).toMatchObject({ code });
}

async function idsAndCounts({ read, manifest }: Workspace, out: string) {
  const lines = (await read(out)).trimEnd().split("\n").slice(1);
  const { input, output, left_out } = await manifest(out);
  const ids = lines.map((line) => Number(line.split(",")[0]));
  return { ids: ids.sort((a, b) => a - b), rows: input.rows, written: output.rows, left_out };
}

test("a run that is killed and resumed leaves out the same rows", async () => {
  const server = await startAnsweringServer();
  const place = await workspace({ "in.csv": rows() });
  const args = (out: string) => ["in.csv", "-o", out, "--distinct"];
  const resume = [...args("out.csv"), "--resume"];
  // Stopped first with a checkpoint behind some of the rows, then killed.
  await enrichHere(server, place, [...resume, "--max-requests", "20"], 75);
  await enrichKilled({ server, cwd: place.cwd, args: resume, kill: { requests: 40, ms: 20 } });
  await enrichHere(server, place, resume);
  await enrichHere(server, place, args("whole.csv"));
  const whole = await idsAndCounts(place, "whole.csv");
  expect(whole).toMatchObject({ rows: 240, written: distinct });
  expect(whole.left_out).toMatchObject({ distinct: 240 - distinct, only: 0 });
  expect(await idsAndCounts(place, "out.csv")).toEqual(whole);
});

test("a --distinct run that is resumed needs no cache for the rows that it writes again", async () => {
  const server = await startAnsweringServer();
  const place = await workspace({ "in.csv": rows() });
  const cache = ["--cache", "cache"];
  await enrichHere(server, place, ["in.csv", "-o", "first.csv", "--limit", "40", ...cache]);
  const asked = server.total;
  const args = ["in.csv", "-o", "out.csv", "--distinct", "--resume"];
  await enrichHere(server, place, [...args, ...cache, "--max-requests", "10"], 75);
  // An answer in the cache expires before the run continues.
  await enrichHere(server, place, [...args, ...cache, "--cache-ttl", "1s"], 0);
  expect([asked < distinct, server.total, server.asked.size]).toEqual([true, distinct, distinct]);
  const resumed = await place.read("out.csv");
  expect(resumed.match(/,cache,/g)).toHaveLength(asked);
});

test("rows that are left out count for --fail-on", async () => {
  const { run, read } = await workspace({ "in.csv": "item\nhost.example.com\n{}\n" });
  const local = ["--local", "--quiet", "--fail-on", "unsupported"];
  const args = ["enrich", "in.csv", "-o", "out.csv", "--only", "malicious", ...local];
  expect(await run(...args)).toMatchObject({ code: 3 });
  expect((await read("out.csv")).split("\n")).toHaveLength(2);
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
  const items = ["a.example.com", "bad.example.com", "gone.example.com", "setup.exe"];
  const lines = items.map((each, n) => `${n},${each}\n`);
  const place = await workspace({ "in.csv": `id,item\n${lines.join("")}` });
  await enrichHere(server, place, [
    "in.csv",
    "-o",
    "out.csv",
    "--only",
    only,
    "--fail-on",
    "never",
  ]);
  const found = await idsAndCounts(place, "out.csv");
  expect(found.ids.map(String)).toEqual(ids);
  expect(found.left_out).toMatchObject({ only: items.length - ids.length, distinct: 0 });
  const { statuses } = found.left_out!;
  expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBe(items.length - ids.length);
});
