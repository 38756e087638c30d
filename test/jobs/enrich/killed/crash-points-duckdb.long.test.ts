import { expect, test } from "vitest";
import { duckdb, faultsOf } from "../../../helpers/crash-outputs.js";

test.each([
  ["append typed rows", { ...duckdb, typed: true }],
  ["merge", { ...duckdb, args: [...duckdb.args, "--mode", "merge"] }],
  ["replace", { ...duckdb, args: [...duckdb.args, "--mode", "replace"] }],
])("a run into DuckDB to %s resumes after a kill at any point", async (name, output) => {
  expect(await faultsOf(`DuckDB, ${name}`, output)).toEqual([]);
});
