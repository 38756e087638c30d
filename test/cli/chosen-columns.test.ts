import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { queryDuckdb, readParquet } from "../contract/warehouse-readers.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

async function prepared() {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "in.csv"), "id,ip\n1,203.0.113.9\n2,192.0.2.1\n3,192.0.2.1\n4,\n");
  const run = (...args: readonly string[]) => runRepute(args, { cwd });
  const enrich = (...args: readonly string[]) =>
    run("enrich", "in.csv", "--local", "--quiet", ...args);
  return { cwd, run, enrich };
}

test("every output with columns has the chosen ones, and can be verified and reported on", async () => {
  const { run, enrich } = await prepared();
  const duckdb = "duckdb:out.duckdb?table=t";
  const outs = ["out.csv", "out.tsv.gz", "out.ndjson", "out.parquet", duckdb];
  for (const out of outs) {
    const shape = out === "out.ndjson" ? ["--shape", "flat"] : [];
    const args = ["-o", out, "--columns", "verdict,item,kind,tags", ...shape];
    expect(await enrich(...args), out).toMatchObject({ code: 0, stderr: "" });
    expect(await run("verify", out), out).toMatchObject({ code: 0 });
    const report = await run("report", out);
    expect(report.stderr, out).toBe("");
  }
});

test("an output lacks only what was not chosen, and commands say which column they need", async () => {
  const { run, enrich } = await prepared();
  await enrich("-o", "out.csv", "--columns", "verdict");
  for (const [command, lacking, ...local] of [
    ["report", "lacks 2 columns that this needs: item, kind"],
    ["retry", "item, kind, missing", "--local"],
  ] as const) {
    const { code, stderr } = await run(command, "out.csv", ...local);
    expect(code).toBe(2);
    expect(stderr).toContain(lacking);
  }
  const diff = await run("diff", "out.csv", "out.csv");
  expect(diff).toMatchObject({ code: 2 });
  expect(diff.stderr).toContain("kind, item, missing");
  expect(await run("verify", "out.csv")).toMatchObject({ code: 0 });
});

test("refuses unknown names, and outputs without columns", async () => {
  const { enrich } = await prepared();
  const wrong = await enrich("--columns", "verdct");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('unknown column "verdct" (did you mean verdict?)');
  const nested = await enrich("-o", "out.ndjson", "--columns", "verdict");
  expect(nested.stderr).toContain("--columns chooses columns, and nested NDJSON has none");
  expect(await enrich("-o", "o.json", "--to", "ecs", "--columns", "tags")).toMatchObject({
    code: 2,
  });
  expect((await enrich("--only", "malicous")).stderr).toContain("did you mean malicious?");
});

test("rows of Parquet and tables are numbered as written", async () => {
  const { cwd, enrich, run } = await prepared();
  const args = ["--only", "malicious,unknown", "--columns", "verdict"];
  await enrich("-o", "out.parquet", ...args);
  await enrich("-o", "duckdb:out.duckdb?table=t", ...args);
  const rows = await queryDuckdb("FROM t ORDER BY rep_row", join(cwd, "out.duckdb"));
  const expected = [
    ["1", "2"],
    ["2", "3"],
    ["3", "4"],
  ];
  const shown = (row: Readonly<Record<string, unknown>>) => [String(row["rep_row"]), row["id"]];
  expect(rows.map(shown)).toEqual(expected);
  expect((await readParquet(join(cwd, "out.parquet"))).map(shown)).toEqual(expected);
  expect(await run("verify", "out.parquet")).toMatchObject({ code: 0 });
});

/** The rows of a part, and its columns besides those of every table. */
async function partOf(path: string) {
  const rows: readonly Readonly<Record<string, unknown>>[] = path.endsWith(".csv")
    ? parse(await readFile(path), { columns: true })
    : await readParquet(path);
  const names = Object.keys(rows[0] ?? {});
  const columns = names.filter((name) => !/^rep_(?:run_id|row|loaded_at)$/.test(name));
  return { columns, ids: rows.map((row) => String(row["id"])) };
}

test.each(["parquet", "csv"])("a data set of %s has the chosen columns and rows", async (to) => {
  const { cwd, enrich, run } = await prepared();
  const lines = Array.from({ length: 40 }, (_, n) => `${n},192.0.2.${n % 25}\n`);
  await writeFile(join(cwd, "in.csv"), `id,ip\n${lines.join("")}`);
  const manifestOf = async (path: string) =>
    JSON.parse(await readFile(join(cwd, path), "utf8")) as Manifest;
  const chosen = ["--columns", "item,verdict,kind", "--only", "none", "--distinct"];
  expect(await enrich("-o", "one.csv", ...chosen)).toMatchObject({ code: 0 });
  const whole = await partOf(join(cwd, "one.csv"));
  expect(whole.columns).toEqual(["id", "ip", "rep_status", "rep_item", "rep_verdict", "rep_kind"]);
  const set = ["-o", "set/", "--to", to, "--rows-per-file", "5", ...chosen];
  expect(await enrich(...set, "--max-requests", "20")).toMatchObject({ code: 75 });
  expect(await enrich(...set, "--resume")).toMatchObject({ code: 0, stderr: "" });
  const { output, left_out } = await manifestOf("set/_manifest.json");
  const paths = (output.parts ?? []).map(({ name }) => join(cwd, "set", name));
  const parts = await Promise.all(paths.map(partOf));
  expect(parts.map(({ columns }) => columns)).toEqual(paths.map(() => whole.columns));
  expect(parts.flatMap(({ ids }) => ids)).toEqual(whole.ids);
  expect(parts.map(({ ids }) => ids.length)).toEqual([5, 5, 5, 5, 3]);
  expect(left_out).toEqual((await manifestOf("one.csv.manifest.json")).left_out);
  expect(left_out).toMatchObject({ distinct: 14, only: 3 });
  expect(await run("verify", "set")).toMatchObject({ code: 0 });
  expect((await run("report", "set")).stderr).toBe("");
  const again = await run("retry", "set", "--local");
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("lacks 10 columns")]);
});
