import { afterAll, beforeAll, expect, test } from "vitest";
import { crashEverywhere } from "../helpers/crash-points.js";
import { PostgresCluster } from "../helpers/postgres-cluster.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
});

afterAll(() => cluster.stop());

/** A table of each run's own. */
const tableOf = (run: string): string => run.replaceAll("-", "_");

/** `CRASH_ALL=1` kills at every operation, else at each third. */
const every = process.env["CRASH_ALL"] === "1" ? 1 : 3;

test("a run into PostgreSQL that is killed anywhere resumes", async () => {
  const { points, faults } = await crashEverywhere(
    await temporaryFolder(),
    {
      args: [],
      argsOf: (run) => ["-o", cluster.url({ parameters: { table: tableOf(run) } })],
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
    },
    every,
  );
  process.stdout.write(`PostgreSQL: killed at ${points} operations\n`);
  expect(faults).toEqual([]);
  expect(points * every).toBeGreaterThan(50);
});
