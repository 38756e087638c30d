import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { queryDuckdb, readParquet, type ReadRow } from "../io/output/tables/warehouse-readers.js";
import { crashEverywhere, readText, type CrashCase } from "./crash-points.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A run into one file, by its name. */
function file(name: string): CrashCase {
  const read = name.endsWith(".parquet") ? parquetRows : readText;
  return { args: ["-o", name], read: (folder) => read(join(folder, name)) };
}

const parquetRows = async (path: string): Promise<readonly ReadRow[]> =>
  (await readParquet(path)).map(lasting);

const csv = file("out.csv");
const parquet = file("out.parquet");

/** Outputs that are a single file. */
export const outputs = {
  "CSV with side files": {
    args: [...csv.args, "--tag-ips", "lists"],
    read: async (folder, run) => [
      await csv.read(folder, run),
      await readText(join(folder, "lists/spam--snowshoe.txt")),
    ],
  },
  "NDJSON.gz": file("out.ndjson.gz"),
  "STIX.gz": {
    args: ["-o", "out.json.gz", "--to", "stix"],
    publishing: true,
    read: async (folder) =>
      (await readText(join(folder, "out.json.gz"))).replace(/"bundle--[^"]+"/, '"bundle"'),
  },
  Parquet: parquet,
} satisfies Readonly<Record<string, CrashCase>>;

/** An output that is named after the run. */
export function dated(format: "CSV" | "Parquet", members: Partial<CrashCase> = {}): CrashCase {
  const extension = format.toLowerCase();
  const read = format === "CSV" ? readText : parquetRows;
  return {
    args: ["-o", `out-{date}-{run_id}.${extension}`],
    read: async (folder) => {
      const names = await readdir(folder);
      const find = (start: string, end: string): string =>
        join(folder, names.find((name) => name.startsWith(start) && name.endsWith(end)) ?? "none");
      return read(find("out-", `.${extension}`));
    },
    ...members,
  };
}

/**
 * A table of a DuckDB file in the run's folder. Its rows are staged like those of a Parquet file, so
 * the run is killed only while it publishes.
 */
export const duckdb: CrashCase = {
  args: ["-o", "duckdb:out.duckdb?table=t"],
  commits: "duckdb",
  publishing: true,
  read: async (folder) => {
    const rows = await queryDuckdb("FROM t ORDER BY rep_row", join(folder, "out.duckdb"));
    return rows.map(lasting);
  },
};

/** Retries of outputs: into a new file and in place. */
export const retries = {
  CSV: { ...csv, retry: ["out.csv", "-o", "again.csv"], read: file("again.csv").read },
  "CSV.gz in place": { ...file("out.csv.gz"), publishing: true, retry: ["out.csv.gz"] },
  "Parquet of typed rows in place": {
    ...parquet,
    publishing: true,
    typed: true,
    retry: ["out.parquet"],
  },
} satisfies Readonly<Record<string, CrashCase>>;

/**
 * Returns what is wrong after a kill at any crash point of a run, and checks that there are enough
 * points.
 */
export async function faultsOf(name: string, crashCase: CrashCase): Promise<readonly string[]> {
  const report = await crashEverywhere(await temporaryFolder(), crashCase);
  const { points, resumed, faults } = report;
  process.stdout.write(`${name}: ${points} crash points, ${resumed} resumed\n`);
  const isShort = crashCase.takesOver === true || crashCase.retry !== undefined;
  // What SQLite does to its files is no operation of Node.js.
  expect(points).toBeGreaterThan(isShort ? 8 : 20);
  expect(resumed).toBeGreaterThan(isShort || crashCase.publishing === true ? 5 : 15);
  return faults;
}

/** A row without the values that differ from run to run. */
function lasting(row: ReadRow): ReadRow {
  const { rep_run_id: _id, rep_loaded_at: _loaded, rep_looked_up_at: _time, ...rest } = row;
  return rest;
}
