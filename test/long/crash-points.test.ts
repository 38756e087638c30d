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

const extras = ["--rejects", "left.csv", "--tag-ips", "lists"];

for (const [name, output] of Object.entries(outputs)) {
  test(`a run into ${name} resumes to the same after a kill at any step`, async () => {
    await expectNoFaults(name, output);
  });

  test(`so does one into ${name} with --rejects and --tag-ips`, async () => {
    await expectNoFaults(`${name} with all`, {
      ...output,
      args: [...output.args, ...extras],
      read: async (folder, run) => [
        await output.read(folder, run),
        await readText(join(folder, "left.csv")),
        await readText(join(folder, "lists/spam--snowshoe.txt")),
      ],
    });
  });
}

async function expectNoFaults(name: string, crashCase: CrashCase): Promise<void> {
  const every = Number(process.env["CRASH_EVERY"] ?? 1);
  const { points, faults } = await crashEverywhere(await temporaryFolder(), crashCase, every);
  process.stdout.write(`${name}: ${points} crash points\n`);
  expect(faults).toEqual([]);
  expect(points).toBeGreaterThan(50);
}

/** A row without what differs from run to run. */
function lasting(row: ReadRow): ReadRow {
  const { rep_run_id: _id, rep_looked_up_at: _time, ...rest } = row;
  return rest;
}
