import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { workspace } from "../../../helpers/workspace.js";
import { queryDuckdb } from "./warehouse-readers.js";

/** A CSV file, a Parquet file, and a DuckDB file with a table. */
async function prepared() {
  const place = await workspace({ "a.csv": "Data,note\n192.0.2.1,one\n192.0.2.2,\n" });
  const { at, run } = place;
  const b = `SELECT '192.0.2.' || (n + 10) AS ioc, CASE n WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'x' END AS note FROM range(4) t(n)`;
  await queryDuckdb(`COPY (${b}) TO '${at("b.parquet")}'`);
  await queryDuckdb("CREATE TABLE c AS SELECT 'c.example.com' AS host, 7 AS n", at("c.duckdb"));
  const enrich = (...args: readonly string[]) =>
    run("enrich", ...args, "--local", "--lookups", "query");
  return { ...place, enrich };
}

const inputs = ["a.csv", "b.parquet", "duckdb:c.duckdb?query=SELECT host, n FROM c"];

it("reads text, Parquet and a query in order as one input", async () => {
  const { enrich, manifest, records, run } = await prepared();
  const { code, stderr } = await enrich(...inputs, "-o", "all.csv");
  expect(code, stderr).toBe(0);
  const rows = await records("all.csv");
  expect(Object.keys(rows[0]!).slice(0, 5)).toEqual(["Data", "note", "ioc", "host", "n"]);
  expect(rows.map((row) => [row["rep_file"], row["rep_item"], row["note"], row["n"]])).toEqual([
    ["a.csv", "192.0.2.1", "one", ""],
    ["a.csv", "192.0.2.2", "", ""],
    ["b.parquet", "192.0.2.10", "", ""],
    ["b.parquet", "192.0.2.11", "", ""],
    ["b.parquet", "192.0.2.12", "x", ""],
    ["b.parquet", "192.0.2.13", "x", ""],
    [inputs[2], "c.example.com", "", "7"],
  ]);
  const { input, inputs: each } = await manifest("all.csv");
  expect(input).toMatchObject({ path: null, rows: 7 });
  expect(
    each?.map(({ path, format, rows: n, item_column }) => [path, format, n, item_column]),
  ).toEqual([
    ["a.csv", "csv", 2, "Data"],
    ["b.parquet", "parquet", 4, "ioc"],
    [inputs[2], "duckdb", 1, "host"],
  ]);
  const plan = await run("plan", ...inputs, "--json", "--local");
  expect(JSON.parse(plan.stdout)).toMatchObject({ rows: 7, kinds: { ip: 6, domain: 1 } });
});

it("gives objects beside NDJSON", async () => {
  const { enrich, read, write } = await prepared();
  await write("a.ndjson", '{"ip":"192.0.2.1","n":1.50}\n');
  const mixed = ["a.ndjson", ...inputs.slice(1)];
  expect(await enrich(...mixed, "-o", "all.ndjson")).toMatchObject({ code: 0 });
  const lines = (await read("all.ndjson")).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, line.indexOf(',"rep":')))).toEqual([
    '{"ip":"192.0.2.1","n":1.50',
    '{"ioc":"192.0.2.10","note":null',
    '{"ioc":"192.0.2.11","note":""',
    '{"ioc":"192.0.2.12","note":"x"',
    '{"ioc":"192.0.2.13","note":"x"',
    '{"host":"c.example.com","n":7',
  ]);
});

it("resumes in any of them, after the tables are gone", async () => {
  const { at, enrich, records } = await prepared();
  await enrich(...inputs, "-o", "whole.csv");
  const args = [...inputs, "-o", "out.csv", "--resume", "--concurrency", "1"];
  let run = await enrich(...args, "--max-requests", "1");
  await rm(at("b.parquet"));
  await rm(at("c.duckdb"));
  let stops = 0;
  for (; run.code === 75; stops++) run = await enrich(...args, "--max-requests", "1");
  expect(run.code, run.stderr).toBe(0);
  expect(stops).toBeGreaterThan(4);
  const plain = async (name: string) => {
    const rows = await records(name);
    for (const row of rows) row["rep_looked_up_at"] = "";
    return rows;
  };
  expect(await plain("out.csv")).toEqual(await plain("whole.csv"));
});
