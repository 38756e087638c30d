import { expect, test } from "vitest";
import { duckdb, faultsOf } from "../helpers/crash-outputs.js";

test.each(["append", "replace"])(
  "a run into DuckDB with --mode %s resumes after a kill at any point",
  async (mode) => {
    const args = [...duckdb.args, "--mode", mode];
    expect(await faultsOf(`DuckDB, ${mode}`, { ...duckdb, args })).toEqual([]);
  },
);

test("a run of typed rows into DuckDB resumes after a kill at any point", async () => {
  expect(await faultsOf("DuckDB, typed rows", { ...duckdb, typed: true })).toEqual([]);
});
