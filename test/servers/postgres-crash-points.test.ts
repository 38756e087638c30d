import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsOf, withSideFiles } from "../helpers/crash-outputs.js";
import type { CrashCase } from "../helpers/crash-points.js";
import { PostgresCluster } from "../helpers/postgres-cluster.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
});

afterAll(() => cluster.stop());

/** Runs into separate tables. */
function postgres(prefix: string): CrashCase {
  const tableOf = (run: string): string => `${prefix}_${run.replaceAll("-", "_")}`;
  return {
    args: [],
    argsOf: (run) => [
      "-o",
      cluster.url({ parameters: { table: tableOf(run) } }),
      // Each run has a folder of its own, which is checked for leftovers.
      "--state-dir",
      ".",
    ],
    commits: "postgres",
    read: async (_, run) => [
      await cluster.query(
        `SELECT to_jsonb(t) - 'rep_run_id' - 'rep_looked_up_at' AS row FROM ${tableOf(run)} t ORDER BY rep_row`,
      ),
      await cluster.query(
        "SELECT run_id FROM repute_checkpoint WHERE run_id IN (SELECT rep_run_id FROM " +
          `${tableOf(run)})`,
      ),
    ],
  };
}

test("a run into PostgreSQL resumes after a kill at any point", { timeout: 600_000 }, async () => {
  expect(await faultsOf("PostgreSQL", postgres("plain"))).toEqual([]);
});

test(
  "a run into PostgreSQL with side files resumes after a kill at any point",
  { timeout: 600_000 },
  async () => {
    expect(
      await faultsOf("PostgreSQL with side files", withSideFiles(postgres("extended"))),
    ).toEqual([]);
  },
);
