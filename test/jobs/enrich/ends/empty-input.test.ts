import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { workspace } from "../../../helpers/workspace.js";

const filled = "ip\n198.51.100.1\n198.51.100.2\n";

async function prepared(output: string, more: readonly string[] = []) {
  const place = await workspace();
  const enrich = async (text: string, flags: readonly string[] = []) => {
    await place.write("in.csv", text);
    return place.run("enrich", "in.csv", "-o", output, "--local", "--quiet", ...more, ...flags);
  };
  return { ...place, enrich };
}

/** Every file under a folder with its content, except the input and refused rows. */
async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "in.csv");
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  const kept = paths.filter((path) => !path.includes(".failed"));
  const texts = kept.map(async (path) => [path, await readFile(path, "latin1")] as const);
  return Object.fromEntries(await Promise.all(texts));
}

const table = "duckdb:out.duckdb?table=t";

test.each([
  ["a file", "out.csv", []],
  ["a compressed file", "out.ndjson.gz", []],
  ["a bundle", "out.json", ["--to", "stix"]],
  ["Parquet", "out.parquet", []],
  ["a table", table, []],
  ["a merged table", table, ["--mode", "merge"]],
  ["a replaced table", table, ["--mode", "replace"]],
] as const)(
  "an input without rows, or without items, does not replace the rows of %s",
  async (_, output, more) => {
    const { cwd, enrich } = await prepared(output, more);
    expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
    const before = await contentOf(cwd);
    for (const flags of [["--resume"], ["--restart"]]) {
      const { code, stderr } = await enrich("ip\n", flags);
      expect(stderr).toContain(
        "repute: the input has no rows, the previous run had 2 (--min-rows 50%)",
      );
      expect(stderr).toContain(`, not in ${output}`);
      expect(stderr).toContain("--min-rows 0");
      expect(stderr).toContain("check the export that makes the input");
      expect(stderr).not.toContain("repute retry");
      expect(code).toBe(1);
      expect(await contentOf(cwd)).toEqual(before);
    }
    // Nothing of it can be looked up.
    const broken = await enrich("ip\nNULL\nNULL\n", ["--item-column", "ip"]);
    expect([broken.code, broken.stderr]).toEqual([
      1,
      expect.stringContaining(`, not in ${output}`),
    ]);
    expect(await contentOf(cwd)).toEqual(before);
    expect(await enrich("ip\n", ["--min-rows", "0"])).toMatchObject({ code: 0 });
    expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
    expect(Object.keys(await contentOf(cwd))).toEqual(Object.keys(before));
  },
);

test("a list of what is malicious may be empty, and matches its manifest", async () => {
  const { enrich, at, run } = await prepared(table, ["--mode", "replace"]);
  expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
  expect(await enrich(filled, ["--only", "malicious"])).toMatchObject({ code: 0, stderr: "" });
  const rows = await queryDuckdb("SELECT count(*)::int AS n FROM t", at("out.duckdb"));
  expect(rows).toEqual([{ n: 0 }]);
  const stdout = `${table}: 0 rows, matches its manifest\n`;
  expect(await run("verify", table)).toMatchObject({ code: 0, stdout });
});

test("a table that another program filled is not emptied", async () => {
  const { enrich, at } = await prepared(table, ["--mode", "replace"]);
  expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
  await queryDuckdb("DELETE FROM t_runs", at("out.duckdb"));
  expect(await enrich("ip\n")).toMatchObject({ code: 1 });
});

test("an input whose rows cannot be counted first is refused once it is read", async () => {
  const { cwd, enrich, runWith } = await prepared("out.csv");
  expect(await enrich(rowsOf(100))).toMatchObject({ code: 0 });
  const before = await contentOf(cwd);
  const stdin = rowsOf(49);
  const args = ["enrich", "-", "-o", "out.csv", "--local", "--quiet", "--json"];
  const { code, stdout } = await runWith({ stdin }, ...args);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    exit_reason: "too_few_rows",
    earlier_rows: 100,
    statuses: { complete: 49 },
    output: { path: "out.csv.failed" },
    error: { code: "too_few_rows" },
  });
  expect(await contentOf(cwd)).toEqual(before);
});

const rowsOf = (count: number): string =>
  `ip\n${Array.from({ length: count }, (_, n) => `198.51.${100 + (n >> 8)}.${n & 255}\n`).join("")}`;

test.each([
  // Its input had so many rows at least.
  [["out.csv", "out.csv", "out.csv"], 120, 120],
  [["2026-01-01.csv", "2026-01-02.csv", "{date}.csv"], 120, 240],
  [["2026-01-01.csv", "2026-01-02.csv", "{date}.csv"], 260, 260],
  [[table, table, table], 120, 240],
  [[table, table, table], 260, 260],
] as const)(
  "a whole run counts as the earlier one, unless one with --limit had more rows: %j, %i",
  async (on, limit, had) => {
    const { run, write } = await workspace();
    const enrich = async (rows: number, output: string, ...flags: readonly string[]) => {
      await write("in.csv", rowsOf(rows));
      return run("enrich", "in.csv", "-o", output, "--local", "--quiet", ...flags);
    };
    expect(await enrich(240, on[0])).toMatchObject({ code: 0 });
    expect(await enrich(300, on[1], "--limit", String(limit))).toMatchObject({ code: 0 });
    const { code, stderr } = await enrich(59, on[2]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the previous run had ${had}`)]);
  },
);

test("rows that were counted first are not asked for until they are accepted", async () => {
  const { enrich, run } = await prepared("out.csv");
  expect(await enrich(rowsOf(100))).toMatchObject({ code: 0 });
  const { code, stdout } = await enrich(rowsOf(49), ["--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    exit_reason: "too_few_rows",
    errors: { not_asked: 49 },
    requests: {},
  });
  const retry = ["retry", "out.csv.failed", "-o", "out.csv", "--local", "--quiet"];
  expect(await run(...retry)).toMatchObject({ code: 1 });
  expect(await run(...retry, "--min-rows", "0")).toMatchObject({ code: 0 });
});

test.each([
  ["a file", "out.csv", []],
  ["a bundle", "out.json", ["--to", "stix"]],
  ["Parquet", "out.parquet", []],
  ["a table", table, []],
  ["a night", "{date}.csv", []],
] as const)("nor is it a first night of %s, unless it is accepted", async (_, output, more) => {
  const { enrich } = await prepared(output, more);
  for (const text of ["ip\n", ""]) {
    const { code, stderr } = await enrich(text, ["--restart", "--item-column", "ip"]);
    expect(stderr).toContain("repute: the input has no rows (--min-rows 50%)");
    expect(code).toBe(1);
  }
  const accepted = await enrich("ip\n", ["--restart", "--min-rows", "0"]);
  expect(accepted).toMatchObject({ code: 0, stderr: "repute: warning: the input has no rows\n" });
  // Its output has no rows either.
  expect(await enrich("ip\n")).toMatchObject({ code: 1 });
});

test("an input without rows to stdout is refused below its header", async () => {
  const args = ["enrich", "--local", "--quiet", "--from", "csv", "--columns", "status"];
  const run = (...flags: readonly string[]) => runRepute([...args, ...flags], { stdin: "ip\n" });
  const stdout = "ip,rep_status\n";
  const stderr = expect.stringContaining("repute: the input has no rows (--min-rows 50%)\n");
  expect(await run()).toMatchObject({ code: 1, stdout, stderr });
  expect(await run("--min-rows", "0")).toMatchObject({ code: 0, stdout });
});
