import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  common,
  decimals,
  expectCopied,
  expectKept,
  floats,
  integers,
  outputNames,
  printed,
  queryOf,
  type RandomColumns,
  randomRows,
  strangeTimes,
  textLists,
  times,
} from "./random-columns.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  await cluster.query("CREATE TYPE mood AS ENUM ('happy', 'sad')");
});

afterAll(() => cluster.stop());

const listLiteral = (list: readonly (string | null)[]): string =>
  `{${list.map((entry) => (entry === null ? "NULL" : `"${entry.replaceAll(/["\\]/g, String.raw`\$&`)}"`)).join(",")}}`;

const columns: RandomColumns = {
  ...common,
  small: integers("int2", -(2n ** 15n), 2n ** 15n - 1n),
  big: integers("int8", -(2n ** 63n), 2n ** 63n - 1n),
  oids: integers("oid", 0n, 2n ** 32n - 1n),
  cents: decimals("numeric(9,2)", 9, 2),
  exact: decimals("numeric", 60, 20),
  single: floats("float4", fc.float()),
  double: floats("float8", fc.double()),
  zoned: times("timestamptz", 6, "+00"),
  local: times("timestamp", 6, ""),
  eras: strangeTimes(
    "timestamptz",
    "0044-03-15 00:00:00+00 BC",
    "12024-01-01 00:00:00+00",
    "infinity",
  ),
  moods: printed("mood", "happy", "sad"),
  bytes: printed("bytea", String.raw`\xdead00`, String.raw`\x`),
  longer: printed("interval", "1 year 2 mons 3 days 04:05:06", "-1 days"),
  hosts: printed("inet", "192.0.2.1", "2001:db8::/32"),
  padded: printed("char(4)", "ab  ", "    "),
  ranges: printed("int4range", "[1,5)", "empty"),
  documentsb: printed("jsonb", '{"k": [1.50, 123456789012345678901234567890]}', '"#"'),
  lists: textLists("text[]", listLiteral),
};

it.each(outputNames)("a table of PostgreSQL becomes %s with its values", async (output) => {
  const property = fc.asyncProperty(randomRows(columns), (rows) =>
    expectKept(output, (query) => `${cluster.url()}?query=${query}`, columns, rows),
  );
  await expect(fc.assert(property, { numRuns: 5 })).resolves.toBeUndefined();
});

it("the copy of a table has the values of PostgreSQL, exactly", async () => {
  const property = fc.asyncProperty(randomRows(columns), (rows) =>
    expectCopied(`${cluster.url()}?query=${queryOf(columns, rows)}`, columns, rows),
  );
  await expect(fc.assert(property, { numRuns: 40 })).resolves.toBeUndefined();
});

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
  const value = {
    type: "text",
    values: fc.constant(sql) as never,
    literal: () => "",
    cell: () => cell,
    json: () => json ?? JSON.stringify([cell]),
  };
  const address = `${cluster.url()}?query=SELECT ${sql} AS v`;
  await expectCopied(address, { v: value }, [{ v: sql }]);
  expect(
    await cluster.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'repute'",
    ),
  ).toEqual([{ n: 0 }]);
});
