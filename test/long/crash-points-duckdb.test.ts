import { expect, test } from "vitest";
import { duckdb, faultsOf, withSideFiles } from "../helpers/crash-outputs.js";

test.each([
  ["DuckDB", duckdb],
  ["DuckDB with side files", withSideFiles(duckdb)],
] as const)("a run into %s resumes after a kill at any point", async (name, output) => {
  expect(await faultsOf(name, output)).toEqual([]);
});
