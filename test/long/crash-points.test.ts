import { join } from "node:path";
import { expect, test } from "vitest";
import { queryDuckdb, readParquet } from "../contract/warehouse-readers.js";
import type { ReadRow } from "../contract/warehouse-readers.js";
import { crashEverywhere, readText } from "../helpers/crash-points.js";
import type { CrashCase } from "../helpers/crash-points.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const outputs: Readonly<Record<string, CrashCase>> = {
  CSV: { args: ["-o", "out.csv"], read: (folder) => readText(join(folder, "out.csv")) },
  "NDJSON.gz": {
    args: ["-o", "out.ndjson.gz"],
    read: (folder) => readText(join(folder, "out.ndjson.gz")),
  },
  Parquet: {
    args: ["-o", "out.parquet"],
    read: async (folder) => (await readParquet(join(folder, "out.parquet"))).map(lasting),
  },
  DuckDB: {
    args: ["-o", "duckdb:out.duckdb?table=t"],
    commits: "duckdb",
    read: async (folder) => {
      const file = join(folder, "out.duckdb");
      const found = await queryDuckdb("SELECT * FROM t ORDER BY rep_row", file);
      return [found.map(lasting), await queryDuckdb("SELECT run_id FROM repute_checkpoint", file)];
    },
  },
};

/**
 * Each n-th operation of a run, and of one with side files. What the outputs have in common is looked
 * at once, with CSV; `CRASH_ALL=1` kills every run everywhere, which takes 20 minutes.
 */
const sampled: Readonly<Record<string, readonly [plain: number, extended: number]>> = {
  CSV: [1, 4],
  "NDJSON.gz": [4, 8],
  Parquet: [2, 8],
  DuckDB: [2, 8],
};

function stepsOf(name: string): readonly [plain: number, extended: number] {
  return process.env["CRASH_ALL"] === "1" ? [1, 1] : (sampled[name] ?? [1, 1]);
}

test.each(Object.keys(outputs))("a run into %s that is killed anywhere resumes", async (name) => {
  const [every] = stepsOf(name);
  const report = await crashEverywhere(await temporaryFolder(), caseOf(name), every);
  process.stdout.write(`${name}: killed at ${report.points} operations\n`);
  expect(report.faults).toEqual([]);
  expect(report.points * every).toBeGreaterThan(50);
});

test.each(Object.keys(outputs))("so does one into %s with all side files", async (name) => {
  const output = caseOf(name);
  const extended: CrashCase = {
    ...output,
    args: [...output.args, "--rejects", "left.csv", "--tag-ips", "lists"],
    read: async (folder, run) => [
      await output.read(folder, run),
      await readText(join(folder, "left.csv")),
      await readText(join(folder, "lists/spam--snowshoe.txt")),
    ],
  };
  const [, every] = stepsOf(name);
  const report = await crashEverywhere(await temporaryFolder(), extended, every);
  process.stdout.write(`${name} with all: killed at ${report.points} operations\n`);
  expect(report.faults).toEqual([]);
  expect(report.points * every).toBeGreaterThan(100);
});

function caseOf(name: string): CrashCase {
  const output = outputs[name];
  if (output === undefined) throw new TypeError(name);
  return output;
}

/** A row without what differs from run to run. */
function lasting(row: ReadRow): ReadRow {
  const { rep_run_id: _id, rep_looked_up_at: _time, ...rest } = row;
  return rest;
}
