import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { queryDuckdb, type ReadRow } from "../../../io/output/tables/warehouse-readers.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { countOf, inputOf, prepared } from "../../../helpers/warehouse-run.js";

it("a DuckDB table keeps earlier nights when a run is started over with --restart", async () => {
  const output = "duckdb:out.duckdb?table=nightly";
  const { cwd, server, enrich, manifest } = await prepared(100);
  const query = (sql: string): Promise<readonly ReadRow[]> =>
    queryDuckdb(sql, join(cwd, "out.duckdb"));
  await enrich(["in.csv", "-o", output]);
  const first = await manifest("out.duckdb.nightly");
  await writeFile(join(cwd, "in.csv"), inputOf(12_000, "other"));
  const args = ["in.csv", "-o", output];
  expect((await enrichKilled({ server, cwd, args, kill: pastCheckpoint })).signal).toBe("SIGKILL");
  expect(await query(countOf("nightly"))).toMatchObject([{ n: 100n }]);
  await writeFile(join(cwd, "in.csv"), inputOf(200, "other"));
  expect((await enrich([...args, "--restart"])).code).toBe(0);
  const second = await manifest("out.duckdb.nightly");
  const runs = await query(
    "SELECT rep_run_id AS run, count(*) AS n FROM nightly GROUP BY 1 ORDER BY min(rep_loaded_at)",
  );
  expect(runs).toEqual([
    { run: first.run_id, n: 100n },
    { run: second.run_id, n: 200n },
  ]);
});

/**
 * At most 4,096 rows of these requests wait to be written, so at least 5,000 are written, and a
 * checkpoint with them.
 */
const pastCheckpoint = { requests: 10_000, ms: 0 };
