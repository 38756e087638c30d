import { rm } from "node:fs/promises";
import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import { duckdb } from "../../../../src/io/output/duckdb/dialect.js";
import { postgres } from "../../../../src/io/output/postgres/dialect.js";
import { sqlType } from "../../../../src/io/output/sql/dialect.js";
import { queriesTo, servedWorkspace } from "../../../helpers/workspace.js";
import {
  expectColumns,
  inputs,
  keptType,
  outputs,
  queryOfItems,
  randomRows,
} from "../../input/copied/random-columns.js";
import { queryDuckdb } from "./warehouse-readers.js";

const local = ["--item-column", "item", "--local", "--lookups", "query"];

/** An empty database `in.duckdb`, and commands that have to succeed. */
async function prepared() {
  const place = await servedWorkspace();
  await queryDuckdb("SELECT 1", place.at("in.duckdb"));
  const repute = async (...args: readonly string[]) => {
    const run = await place.run(...args);
    expect(run.code, run.stderr).toBe(0);
    return run;
  };
  const enrich = (...args: readonly string[]) => repute("enrich", ...args, ...local);
  return { ...place, repute, enrich };
}

it("a retry of a Parquet file keeps the types and values of its input", async () => {
  const { cwd, repute, run, server } = await prepared();
  const { columns, addressOf } = inputs.Parquet;
  const rows = fc.sample(randomRows(columns), 40).flat();
  for (let n = 0; n < rows.length; n += 3) server.absent.add(`host-${n}.example.com`);
  const input = await addressOf(queryOfItems(columns, rows));
  const args = ["enrich", input, "-o", "out.parquet", "--item-column", "item"];
  expect(await run(...args, ...queriesTo(server))).toMatchObject({ code: 3 });
  server.absent.clear();
  await repute("retry", "out.parquet", ...queriesTo(server));
  await expectColumns(outputs.Parquet, cwd, columns, rows);
});

it("types become text with one warning per column where an output has no such type", async () => {
  const { cwd, enrich, manifest } = await prepared();
  const query =
    "SELECT 'a.example.com' AS item, INTERVAL 3 days AS span, [1, 2] AS list, 5::HUGEINT AS huge, 'x'::ENUM('x') AS e FROM range(2)";
  const { stderr } = await enrich(`duckdb:in.duckdb?query=${query}`, "-o", "out.parquet");
  const said = [
    "column span is stored as text: it is INTERVAL",
    "column list is stored as text: it is INTEGER[]",
    "column huge is stored as text: it is HUGEINT",
  ];
  for (const warning of said) expect(stderr.split(`warning: ${warning}\n`)).toHaveLength(2);
  const { warnings } = await manifest("out.parquet");
  expect(warnings).toEqual(Object.fromEntries(said.map((warning) => [warning, 1])));
  const rows = await queryDuckdb(
    `SELECT DISTINCT span, list, huge, e, typeof(huge) AS type FROM '${cwd}/out.parquet'`,
  );
  expect(rows).toEqual([{ span: "3 days", list: "1|2", huge: "5", e: "x", type: "VARCHAR" }]);
  const text = await enrich(`duckdb:in.duckdb?query=${query}`, "-o", "out.csv");
  expect(text.stderr).not.toMatch(/warning/);
});

it("values that the type cannot hold are counted, and that the type become null", async () => {
  const { at, enrich, manifest } = await prepared();
  const query = `SELECT 'a' || n || '.example.com' AS item, CASE WHEN n < 2 THEN 'infinity' ELSE '2024-01-02' END::DATE AS day,
    TIMESTAMP '12024-01-02' AS late, '{"a": "\\u0000"}'::JSON AS doc FROM range(5) t(n)`;
  const input = `duckdb:in.duckdb?query=${query}`;
  const { stderr } = await enrich(input, "-o", "duckdb:out.duckdb?table=t");
  expect(stderr).toMatch(/warning: values of the column day became null/);
  const { warnings } = await manifest("out.duckdb.t");
  const why = "they are infinite, out of range or malformed";
  expect(warnings).toEqual({
    [`values of the column late became null: ${why}`]: 5,
    "replaced U+0000 with U+FFFD in values that contain it": 5,
    [`values of the column day became null: ${why}`]: 2,
  });
  const [stored] = await queryDuckdb(
    "SELECT count(day)::INT AS days, count(late)::INT AS late, any_value(doc->>'a') AS a FROM t",
    at("out.duckdb"),
  );
  expect(stored).toEqual({ days: 3, late: 0, a: "\uFFFD" });
});

it("types of several inputs are kept where they agree, and become text with a warning where they clash", async () => {
  const { at, cwd, manifest, repute, run } = await prepared();
  const write = (name: string, select: string) =>
    queryDuckdb(`COPY (SELECT ${select}) TO '${cwd}/${name}.parquet' (FORMAT parquet)`);
  await write(
    "a",
    "'a.example.com' AS item, 1::INTEGER AS n, 2::BIGINT AS m, DATE '2024-01-02' AS d",
  );
  await write("b", "'b.example.com' AS item, 2::BIGINT AS n, 2.5::DOUBLE AS m, true AS extra");
  const args = ["a.parquet", "b.parquet", "-o", "duckdb:out.duckdb?table=t"];
  const stop = ["--max-requests", "1", "--concurrency", "1", "--resume"];
  const whole = ["enrich", ...args, ...local];
  expect(await run(...whole, ...stop)).toMatchObject({ code: 75 });
  await rm(at("b.parquet"));
  await repute(...whole, "--resume");
  const warning = "column m is stored as text: it is INT_64 in a.parquet and DOUBLE in b.parquet";
  const { warnings } = await manifest("out.duckdb.t");
  expect(warnings).toEqual({ [warning]: 1 });
  const rows = await queryDuckdb(
    "SELECT n, m, d::VARCHAR AS d, extra, typeof(n) || typeof(d) || typeof(extra) AS types FROM t ORDER BY rep_row",
    at("out.duckdb"),
  );
  const types = "BIGINTDATEBOOLEAN";
  expect(rows).toEqual([
    { n: 1n, m: "2", d: "2024-01-02", extra: null, types },
    { n: 2n, m: "2.5", d: null, extra: true, types },
  ]);
});

it.each(["DuckDB", "Parquet"] as const)(
  "repute schema of a typed %s has its types",
  async (name) => {
    const { repute } = await prepared();
    const { columns, addressOf } = inputs[name];
    const rows = fc.sample(randomRows(columns), 10).flat();
    // zod takes no integers beyond those that JavaScript has, and no infinite times.
    for (const row of rows) Object.assign(row, { big: 7n, infinite: null });
    const input = await addressOf(queryOfItems(columns, rows));
    for (const dialect of [duckdb, postgres]) {
      const { stdout, stderr } = await repute("schema", input, "--format", dialect.name);
      const found = Array.from(stdout.matchAll(/^ {2}"(\w+)" (.+?),?$/gm), ([, ...pair]) => pair);
      const kept = Object.entries(columns).map(([column, own]) => [
        column,
        sqlType(dialect, keptType(own) ?? "text"),
      ]);
      expect(Object.fromEntries(found)).toMatchObject(Object.fromEntries(kept));
      const lacking = stderr.matchAll(
        /column nanos is .* text: it is TIMESTAMP(?:_NS|\(NANOS\))\n/g,
      );
      expect([...lacking]).toHaveLength(dialect === postgres ? 1 : 0);
    }
    const schema = JSON.parse((await repute("schema", input, "--format", "json-schema")).stdout);
    const flat = await repute("enrich", input, ...local, "--to", "ndjson", "--shape", "flat");
    const judge = z.fromJSONSchema(schema);
    const faults = flat.stdout
      .trimEnd()
      .split("\n")
      .flatMap((line) => judge.safeParse(JSON.parse(line)).error ?? []);
    expect(faults).toEqual([]);
    const { big, days, documents, flags, rate } = schema.properties;
    expect([big.type, flags.type, rate.type]).toEqual([
      ["integer", "null"],
      ["boolean", "null"],
      ["number", "null", "string"],
    ]);
    expect([days.format, documents.type]).toEqual(["date", undefined]);
  },
);
