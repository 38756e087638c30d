import { expect, test } from "vitest";
import { duckdb, faultsOf } from "../helpers/crash-outputs.js";

test("a run into DuckDB resumes after a kill at any point", async () => {
  expect(await faultsOf("DuckDB", duckdb)).toEqual([]);
});
