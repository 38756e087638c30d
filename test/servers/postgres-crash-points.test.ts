import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsOf, withSideFiles } from "../helpers/crash-outputs.js";
import type { CrashCase } from "../helpers/crash-points.js";
import { PostgresCluster } from "../helpers/postgres-cluster.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  await cluster.query(copies);
});

afterAll(() => cluster.stop());

/**
 * Copies a table and the checkpoints, or returns them to a copy. Gives up if a transaction locks the
 * table.
 */
const copies = `
  CREATE FUNCTION keep(copied text, point int) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE name text;
    BEGIN
      SET LOCAL lock_timeout = '1s';
      FOREACH name IN ARRAY ARRAY[copied, 'repute_checkpoint'] LOOP
        CONTINUE WHEN to_regclass(name) IS NULL;
        EXECUTE format('CREATE TABLE %I AS TABLE %I', copied || name || point, name);
      END LOOP;
    END $$;
  -- Its view goes with it; a run creates both.
  CREATE FUNCTION restore(copied text, point int) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE name text;
    BEGIN
      FOREACH name IN ARRAY ARRAY[copied, 'repute_checkpoint'] LOOP
        CONTINUE WHEN to_regclass(name) IS NULL;
        IF to_regclass(copied || name || point) IS NULL THEN
          EXECUTE format('DROP TABLE %I CASCADE', name);
        ELSE
          EXECUTE format('TRUNCATE %I', name);
          EXECUTE format('INSERT INTO %I SELECT * FROM %I', name, copied || name || point);
        END IF;
      END LOOP;
    END $$`;

/** Runs into separate tables. */
function postgres(prefix: string): CrashCase {
  const tableOf = (run: string): string => `${prefix}_${run.replaceAll("-", "_")}`;
  const table = tableOf("run");
  return {
    args: [],
    database: {
      keep: cluster.psql(`SELECT keep('${table}', POINT)`),
      restore: (point) => cluster.query("SELECT restore($1, $2)", [table, point]),
    },
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
