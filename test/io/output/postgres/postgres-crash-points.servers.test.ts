import { afterAll, beforeAll, expect, test } from "vitest";
import { faultsOf } from "../../../helpers/crash-outputs.js";
import type { CrashCase } from "../../../helpers/crash-points.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";

let cluster: PostgresCluster;

beforeAll(async () => {
  cluster = await PostgresCluster.start();
  await cluster.query(copies);
});

afterAll(() => cluster.stop());

/**
 * Copies a table, or returns it to a copy. Gives up if a transaction locks the table.
 */
const copies = `
  CREATE FUNCTION keep(copied text, point int) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      SET LOCAL lock_timeout = '1s';
      IF to_regclass(copied) IS NOT NULL THEN
        EXECUTE format('CREATE TABLE %I AS TABLE %I', copied || point, copied);
      END IF;
    END $$;
  -- Its view goes with it; a run creates both.
  CREATE FUNCTION restore(copied text, point int) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF to_regclass(copied) IS NULL THEN
        RETURN;
      ELSIF to_regclass(copied || point) IS NULL THEN
        EXECUTE format('DROP TABLE %I CASCADE', copied);
      ELSE
        EXECUTE format('TRUNCATE %I', copied);
        EXECUTE format('INSERT INTO %I SELECT * FROM %I', copied, copied || point);
      END IF;
    END $$`;

/**
 * Runs into separate tables. Rows are staged like those of a Parquet file, so a run is killed only
 * while it publishes.
 */
function postgres(prefix: string): CrashCase {
  const table = `${prefix}_run`;
  return {
    // Each run has a folder of its own, which is checked for leftovers.
    args: ["-o", addressOf(prefix), "--state-dir", "."],
    database: {
      keep: cluster.psql(`SELECT keep('${table}', POINT), keep('${table}_runs', POINT)`),
      restore: (point) =>
        cluster.query("SELECT restore($1, $3), restore($2, $3)", [table, `${table}_runs`, point]),
    },
    commits: "postgres",
    publishing: true,
    read: async (_, run) => [
      await cluster.query(
        `SELECT to_jsonb(t) - 'rep_run_id' - 'rep_loaded_at' - 'rep_looked_up_at' AS row FROM ${prefix}_${run} t ORDER BY rep_row`,
      ),
    ],
  };
}

function addressOf(prefix: string): string {
  return cluster.url({ parameters: { table: `${prefix}_RUN` } });
}

test.each(["append", "merge"])(
  "a run into PostgreSQL to %s resumes after a kill at any point",
  { timeout: 600_000 },
  async (mode) => {
    const place = postgres(mode);
    const args = [...place.args, "--mode", mode];
    expect(await faultsOf(`PostgreSQL, ${mode}`, { ...place, args })).toEqual([]);
  },
);
