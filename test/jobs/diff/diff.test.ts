import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { InterruptedError } from "../../../src/core/errors.js";
import { runRepute } from "../../helpers/run-repute.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { copiedFolder } from "../../helpers/temporary-folder.js";

const hosts = Array.from({ length: 40 }, (_, index) => `host-${index}.example.com`);

/** Writes two outputs over overlapping inputs, answered with other data the second night. */
async function enrichNights(cwd: string, outputOf: (night: string) => string): Promise<void> {
  await writeFile(join(cwd, "1.txt"), `${hosts.slice(0, 30).join("\n")}\n`);
  await writeFile(join(cwd, "2.txt"), `${hosts.slice(10).join("\n")}\n`);
  for (const night of ["1", "2"]) {
    const args = ["enrich", `${night}.txt`, "-o", outputOf(night), "--local", "--quiet"];
    expect((await runRepute([...args, "--synthetic", night], { cwd })).code).toBe(0);
  }
}

const nights = copiedFolder((cwd) => enrichNights(cwd, (night) => `${night}.csv`));

test("prints a summary and the changes, defanged and with the tags of new items", async () => {
  const cwd = await nights();
  const { code, stdout, stderr } = await runRepute(["diff", "1.csv", "2.csv"], { cwd });
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
  await runRepute(["diff", "1.csv", "2.csv", "-o", "c.html", "-q"], { cwd });
  const page = await readFile(join(cwd, "c.html"), "utf8");
  expect(page).toMatch(/<h1>\d+ new malicious, .*\d+ worse\.<\/h1>/);
  expect(page).toMatch(/<td>new<\/td>[^]*?<bdi>tags \+[a-z]+:/);
});

test("writes every change once to a file, in each format", async () => {
  const cwd = await nights();
  const written = async (name: string): Promise<string> => {
    const args = ["diff", "1.csv", "2.csv", "-o", name, "--quiet"];
    expect(await runRepute(args, { cwd })).toMatchObject({ code: 0, stdout: "", stderr: "" });
    return readFile(join(cwd, name), "utf8");
  };
  const csv = parse<Record<string, string>>(await written("c.csv"), { columns: true });
  const lines = (await written("c.ndjson")).trimEnd().split("\n");
  const ndjson = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(csv.map(({ change, item }) => [change, item])).toEqual(
    ndjson.map(({ change, item }) => [change, item]),
  );
  expect(csv.filter(({ change }) => change === "new").map(({ item }) => item)).toHaveLength(10);
  const page = await written("c.html");
  expect(page).toContain("default-src &#39;none&#39;".replaceAll("&#39;", "'"));
  expect(page).toContain("host-0[.]example[.]com");
  expect((await readdir(cwd)).filter((name) => name.endsWith(".part"))).toEqual([]);

  const later = await readFile(join(cwd, "2.csv"), "utf8");
  for (const [name, message] of [
    ["./2.csv", "the output ./2.csv would overwrite the input"],
    ["gone/c.csv", "/gone does not exist"],
  ] as const) {
    const refused = await runRepute(["diff", "1.csv", "2.csv", "-o", name], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  expect(await readFile(join(cwd, "2.csv"), "utf8")).toBe(later);
});

test("--exit-code exits with 3 if something got worse", async () => {
  const cwd = await nights();
  const worse = await runRepute(["diff", "1.csv", "2.csv", "--exit-code"], { cwd });
  const same = await runRepute(["diff", "1.csv", "1.csv", "--exit-code"], { cwd });
  expect([worse.code, same.code]).toEqual([3, 0]);
  expect(same.stdout).toBe("Nothing changed; 30 the same\n");
});

test.each([
  ["malicious", 3],
  ["none", 0],
])("--exit-code for a new item with the verdict %s is %i", async (verdict, expected) => {
  const cwd = await nights();
  const lines = (await readFile(join(cwd, "2.csv"), "utf8")).split("\n");
  const other = lines.findIndex((line) => line.includes(`,complete,${verdict},`));
  await writeFile(join(cwd, "less.csv"), lines.toSpliced(other, 1).join("\n"));
  const { code, stdout } = await runRepute(["diff", "less.csv", "2.csv", "--exit-code"], { cwd });
  expect([code, stdout]).toEqual([expected, expect.stringMatching(/^1 new .*; 29 the same\n/)]);
});

test.each(["ndjson", "parquet"])("finds the same changes in %s as in CSV", async (extension) => {
  const cwd = await nights();
  await enrichNights(cwd, (night) => `${night}.${extension}`);
  const args = (ending: string): string[] => ["diff", `1.${ending}`, `2.${ending}`, "--json"];
  const expected = await runRepute(args("csv"), { cwd });
  const found = await runRepute(args(extension), { cwd });
  expect([found.code, found.stdout]).toEqual([0, expected.stdout]);
});

test("compares two runs in one table by run ID", async () => {
  const cwd = await nights();
  const table = "duckdb:n.duckdb?table=nightly";
  await enrichNights(cwd, () => table);
  const runs = "SELECT DISTINCT rep_run_id AS id FROM nightly ORDER BY id";
  const [{ id: first } = {}] = await queryDuckdb(runs, join(cwd, "n.duckdb"));
  const found = await runRepute(["diff", `${table}&run=${String(first)}`, table, "--json"], {
    cwd,
  });
  const expected = await runRepute(["diff", "1.csv", "2.csv", "--json"], { cwd });
  expect([found.stderr, found.stdout]).toEqual(["", expected.stdout]);
});

test.each([
  ["diff", "1.csv", "2.csv", "-o", "c.csv"],
  ["report", "2.csv", "-o", "r.html"],
  ["report", "2.csv", "--against", "1.csv", "-o", "r.html"],
])("Ctrl-C ends %s without a file", async (...args) => {
  const cwd = await nights();
  const before = await readdir(cwd);
  const signal = AbortSignal.abort(new InterruptedError("SIGINT"));
  const { code, stderr } = await runRepute(args, { cwd, signal });
  expect([code, stderr]).toEqual([130, "repute: stopped by SIGINT\n"]);
  expect(await readdir(cwd)).toEqual(before);
});
