import { expect, test } from "vitest";
import { duckdb, faultsOf, whilePublishing } from "../helpers/crash-outputs.js";

test.each([
  ["append", duckdb],
  ["replace", whilePublishing({ ...duckdb, args: [...duckdb.args, "--mode", "replace"] })],
  ["append typed rows", whilePublishing({ ...duckdb, typed: true })],
])("a run into DuckDB to %s resumes after a kill at any point", async (name, output) => {
  expect(await faultsOf(`DuckDB, ${name}`, output)).toEqual([]);
});
