import { expect, test } from "vitest";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { type ServedWorkspace, servedWorkspace, workspace } from "../../../helpers/workspace.js";

const distinct = 60;

/** Each item twice and more, in an order without a pattern, and a row without an item in 49. */
function rows(): string {
  const items = Array.from({ length: 240 }, (_, n) =>
    n % 49 === 0 ? "" : `host-${(n * 7919) % distinct}.example.com`,
  );
  return `id,item\n${items.map((item, n) => `${n},${item}\n`).join("")}`;
}

async function enrich({ ask }: ServedWorkspace, args: readonly string[], code = 0): Promise<void> {
  expect(await ask("enrich", ...args, "--quiet")).toMatchObject({ code });
}

async function idsAndCounts({ records, manifest }: ServedWorkspace, out: string) {
  const { input, output, left_out } = await manifest(out);
  const ids = (await records(out)).map(({ id }) => Number(id));
  return { ids: ids.sort((a, b) => a - b), rows: input.rows, written: output.rows, left_out };
}

test("a run that is killed and resumed leaves out the same rows", async () => {
  const place = await servedWorkspace({ "in.csv": rows() });
  const { server } = place;
  const args = (out: string) => ["in.csv", "-o", out, "--distinct"];
  const resume = [...args("out.csv"), "--resume"];
  // Stopped first with a checkpoint behind some of the rows, then killed.
  await enrich(place, [...resume, "--max-requests", "20"], 75);
  await enrichKilled({ server, cwd: place.cwd, args: resume, kill: { requests: 40, ms: 20 } });
  await enrich(place, resume);
  await enrich(place, args("whole.csv"));
  const whole = await idsAndCounts(place, "whole.csv");
  expect(whole).toMatchObject({ rows: 240, written: distinct });
  expect(whole.left_out).toMatchObject({ distinct: 240 - distinct, only: 0 });
  expect(await idsAndCounts(place, "out.csv")).toEqual(whole);
});

test("a --distinct run that is resumed needs no cache for the rows that it writes again", async () => {
  const place = await servedWorkspace({ "in.csv": rows() });
  const { server } = place;
  const cache = ["--cache", "cache"];
  await enrich(place, ["in.csv", "-o", "first.csv", "--limit", "40", ...cache]);
  const asked = server.total;
  const args = ["in.csv", "-o", "out.csv", "--distinct", "--resume"];
  await enrich(place, [...args, ...cache, "--max-requests", "10"], 75);
  // An answer in the cache expires before the run continues.
  await enrich(place, [...args, ...cache, "--cache-ttl", "1s"], 0);
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
  const items = ["a.example.com", "bad.example.com", "gone.example.com", "setup.exe"];
  const lines = items.map((each, n) => `${n},${each}\n`);
  const place = await servedWorkspace({ "in.csv": `id,item\n${lines.join("")}` });
  place.server.malicious.add("bad.example.com");
  place.server.absent.add("gone.example.com");
  await enrich(place, ["in.csv", "-o", "out.csv", "--only", only, "--fail-on", "never"]);
  const found = await idsAndCounts(place, "out.csv");
  expect(found.ids.map(String)).toEqual(ids);
  expect(found.left_out).toMatchObject({ only: items.length - ids.length, distinct: 0 });
  const { statuses } = found.left_out!;
  expect(Object.values(statuses).reduce((sum, n) => sum + n, 0)).toBe(items.length - ids.length);
});
