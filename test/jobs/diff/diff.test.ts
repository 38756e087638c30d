import { readdir } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { InterruptedError } from "../../../src/core/errors.js";
import { runRepute } from "../../helpers/run-repute.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { copiedFolder } from "../../helpers/temporary-folder.js";
import { workspace } from "../../helpers/workspace.js";

const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}.example.com`);

/** Writes two outputs over overlapping inputs, answered with other data the second night. */
async function enrichNights(cwd: string, outputOf: (night: string) => string): Promise<void> {
  const files = { "1.txt": hosts.slice(0, 30).join("\n"), "2.txt": hosts.slice(10).join("\n") };
  const { run } = await workspace(files, { folder: cwd });
  for (const night of ["1", "2"]) {
    const args = ["enrich", `${night}.txt`, "-o", outputOf(night), "--local", "--quiet"];
    expect((await run(...args, "--synthetic", night)).code).toBe(0);
  }
}

const enriched = copiedFolder((cwd) => enrichNights(cwd, (night) => `${night}.csv`));

const nights = async () => workspace({}, { folder: await enriched() });

test("prints a summary and the changes, defanged and with the tags of new items", async () => {
  const { read, run } = await nights();
  const { code, stdout, stderr } = await run("diff", "1.csv", "2.csv");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    /^\d+ new malicious, .*\d+ worse, \d+ new with nothing known, .*10 gone; /,
  );
  const [counts = ""] = stdout.split("\n");
  const added = [...counts.matchAll(/(\d+) new /g)].map(([, count]) => Number(count));
  expect(added.reduce((sum, count) => sum + count, 0)).toBe(10);
  expect(stdout).toMatch(/^gone +domain +host-/m);
  expect(stdout).not.toMatch(/host-\d+\.example/);
  expect(stdout).toMatch(
    /^new +domain +host-\d+\[\.\]example\[\.\]com +malicious; tags \+[a-z]+:/m,
  );
  await run("diff", "1.csv", "2.csv", "-o", "c.html", "-q");
  const page = await read("c.html");
  expect(page).toMatch(/<h1>\d+ new malicious, .*\d+ worse\.<\/h1>/);
  expect(page).toMatch(/<td>new<\/td>[^]*?<bdi>tags \+[a-z]+:/);
});

test("writes every change once to a file, in each format", async () => {
  const { cwd, read, run } = await nights();
  const written = async (name: string): Promise<string> => {
    const args = ["diff", "1.csv", "2.csv", "-o", name, "--quiet"];
    expect(await run(...args)).toMatchObject({ code: 0, stdout: "", stderr: "" });
    return read(name);
  };
  const csv = parse<Record<string, string>>(await written("c.csv"), { columns: true });
  const lines = (await written("c.ndjson")).trimEnd().split("\n");
  const ndjson = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(csv.map(({ change, item }) => [change, item])).toEqual(
    ndjson.map(({ change, item }) => [change, item]),
  );
  expect(csv.filter(({ change }) => change === "new").map(({ item }) => item)).toHaveLength(10);
  const page = await written("c.html");
  expect(page).toContain("default-src 'none'");
  expect(page).toContain("host-0[.]example[.]com");
  expect((await readdir(cwd)).filter((name) => name.endsWith(".part"))).toEqual([]);

  const later = await read("2.csv");
  for (const [name, message] of [
    ["./2.csv", "the output ./2.csv would overwrite the input"],
    ["gone/c.csv", "/gone does not exist"],
  ] as const) {
    const refused = await run("diff", "1.csv", "2.csv", "-o", name);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  expect(await read("2.csv")).toBe(later);
});

test("--exit-code exits with 3 if something got worse", async () => {
  const { run } = await nights();
  expect(await run("diff", "1.csv", "2.csv", "--exit-code")).toMatchObject({ code: 3 });
  const same = { code: 0, stdout: "Nothing changed; 30 the same\n" };
  expect(await run("diff", "1.csv", "1.csv", "--exit-code")).toMatchObject(same);
});

test.each([
  ["malicious", 3],
  ["none", 0],
])("--exit-code for a new item with the verdict %s is %i", async (verdict, expected) => {
  const { read, run, write } = await nights();
  const lines = (await read("2.csv")).split("\n");
  const other = lines.findIndex((line) => line.includes(`,complete,${verdict},`));
  await write("less.csv", lines.toSpliced(other, 1).join("\n"));
  const { code, stdout } = await run("diff", "less.csv", "2.csv", "--exit-code");
  expect([code, stdout]).toEqual([expected, expect.stringMatching(/^1 new .*; 29 the same\n/)]);
});

test.each(["ndjson", "parquet"])("finds the same changes in %s as in CSV", async (extension) => {
  const { cwd, run } = await nights();
  await enrichNights(cwd, (night) => `${night}.${extension}`);
  const { stdout } = await run("diff", "1.csv", "2.csv", "--json");
  const found = await run("diff", `1.${extension}`, `2.${extension}`, "--json");
  expect(found).toMatchObject({ code: 0, stdout });
});

test("compares two runs in one table by run ID", async () => {
  const { at, cwd, run } = await nights();
  const table = "duckdb:n.duckdb?table=nightly";
  await enrichNights(cwd, () => table);
  const runs = "SELECT DISTINCT rep_run_id AS id FROM nightly ORDER BY id";
  const [{ id: first } = {}] = await queryDuckdb(runs, at("n.duckdb"));
  const { stdout } = await run("diff", "1.csv", "2.csv", "--json");
  const found = await run("diff", `${table}&run=${String(first)}`, table, "--json");
  expect(found).toMatchObject({ stdout, stderr: "" });
});

test("a report shows the same changes since an earlier output", async () => {
  const { run } = await nights();
  const report = await run("report", "2.csv", "--against", "1.csv");
  const diff = await run("diff", "1.csv", "2.csv");
  const [counts = ""] = diff.stdout.split("\n");
  expect([report.code, report.stderr]).toEqual([0, ""]);
  expect(report.stdout).toContain("What changed\n");
  expect(report.stdout.replaceAll(/\s+/g, " ")).toContain(`${counts} since 1.csv`);
});

test.each([
  ["diff", "1.csv", "2.csv", "-o", "c.csv"],
  ["report", "2.csv", "-o", "r.html"],
  ["report", "2.csv", "--against", "1.csv", "-o", "r.html"],
])("Ctrl-C ends %s without a file", async (...args) => {
  const { cwd } = await nights();
  const before = await readdir(cwd);
  const signal = AbortSignal.abort(new InterruptedError("SIGINT"));
  const { code, stderr } = await runRepute(args, { cwd, signal });
  expect([code, stderr]).toEqual([130, "repute: stopped by SIGINT\n"]);
  expect(await readdir(cwd)).toEqual(before);
});
