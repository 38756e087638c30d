import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  common,
  copiedValue,
  decimals,
  floats,
  type InputPlace,
  inputs,
  integers,
  type OutputPlace,
  outputs,
  printed,
  strange,
  testCopies,
  testOutputs,
  textLists,
  times,
  typedPlace,
} from "./random-columns.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  await cluster.query("CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE DOMAIN age AS int8");
});

afterAll(() => cluster.stop());

const columns: InputPlace["columns"] = {
  ...common,
  small: integers("int2", -(2n ** 15n), 2n ** 15n - 1n),
  big: integers("int8", -(2n ** 63n), 2n ** 63n - 1n),
  ages: integers("age", 0n, 2n ** 40n),
  oids: integers("oid", 0n, 2n ** 32n - 1n),
  cents: decimals("numeric(9,2)", 9, 2),
  exact: decimals("numeric", 60, 20),
  huge: decimals("numeric(50,2)", 50, 2),
  nans: printed("numeric", "NaN"),
  nancents: strange("numeric(9,2)", "NaN"),
  single: floats("float4", fc.float()),
  double: floats("float8", fc.double()),
  zoned: times("timestamptz", 6, "+00"),
  local: times("timestamp", 6, ""),
  eras: strange("timestamptz", "0044-03-15 00:00:00+00 BC", "12024-01-01 00:00:00+00", "infinity"),
  moods: printed("mood", "happy", "sad"),
  bytes: printed("bytea", String.raw`\xdead00`, String.raw`\x`),
  longer: printed("interval", "1 year 2 mons 3 days 04:05:06", "-1 days"),
  hosts: printed("inet", "192.0.2.1", "2001:db8::/32"),
  padded: printed("char(4)", "ab  ", "    "),
  ranges: printed("int4range", "[1,5)", "empty"),
  documentsb: printed("jsonb", '{"k": [1.50, 123456789012345678901234567890]}', '"#"'),
  lists: textLists("text[]", ["{", "}"]),
};

/** A table of PostgreSQL, which stores JSON without its spelling and the order of its members. */
function kept(table: string): OutputPlace {
  const newest = `(SELECT max(rep_run_id) FROM ${table})`;
  const rows = `SELECT * FROM ${table} WHERE rep_run_id = ${newest} ORDER BY rep_row`;
  return {
    ...typedPlace(["timestamp_ns_local"], () => postgres.addressOf(rows)),
    output: () => cluster.url({ parameters: { table } }),
    plain: (json) => JSON.stringify(JSON.parse(json), inOrder),
  };
}

const inOrder = (_: string, value: unknown): unknown =>
  value instanceof Object && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const postgres: InputPlace = {
  columns,
  addressOf: (query) => `${cluster.url()}?query=${query}`,
};

const rounds = { numRuns: 5 };

testOutputs("PostgreSQL", postgres, { ...outputs, PostgreSQL: kept("own") }, rounds);
testOutputs("DuckDB", inputs.DuckDB, { PostgreSQL: kept("of_duckdb") }, rounds);
testOutputs("Parquet", inputs.Parquet, { PostgreSQL: kept("of_parquet") }, rounds);
testCopies("PostgreSQL", postgres, { numRuns: 40 });

it.each([
  ["ARRAY[1.10, NULL]", "[1.10,null]", "[1.10,null]"],
  ["ARRAY[[1, 2], [3, 4]]", "[[1,2],[3,4]]", "[[1,2],[3,4]]"],
  ["ARRAY[true, false]", "true|false", "[true,false]"],
  ["ARRAY[NULL, 'x|y']", '[null,"x|y"]', '[null,"x|y"]'],
  ["'[0:1]={a,b}'::text[]", "a|b", '["a","b"]'],
  ["ARRAY['NaN'::float8, 0.1]", "NaN|0.1", '["NaN",0.1]'],
  ["ARRAY[inet '192.0.2.1']", "192.0.2.1", '["192.0.2.1"]'],
  ["ARRAY[timestamp '2024-01-02 03:04:05.5']", "2024-01-02T03:04:05.5Z", null],
  ["ARRAY[timestamptz '2024-01-02 03:04:05.5+02']", "2024-01-02T01:04:05.5Z", null],
  [`E'{"a":\\n 1.10}'::json`, '{"a":  1.10}', String.raw`"{\"a\":  1.10}"`],
  ["ROW(1, 'x y')", '(1,"x y")', String.raw`"(1,\"x y\")"`],
])("the copy of a table has %s of PostgreSQL", async (sql, cell, json) => {
  const address = `${cluster.url()}?query=SELECT ${sql} AS v, 1 AS v`;
  expect(await copiedValue(address)).toEqual([cell, json ?? JSON.stringify([cell])]);
  const [open] = await cluster.query(
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'repute'",
  );
  expect(open).toEqual({ n: 0 });
});
