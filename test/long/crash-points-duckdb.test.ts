import { expect, test } from "vitest";
import { duckdb, faultsOf, withSideFiles } from "../helpers/crash-outputs.js";

test("a run into DuckDB with side files resumes after a kill at any point", async () => {
  expect(await faultsOf("DuckDB with side files", withSideFiles(duckdb))).toEqual([]);
});
