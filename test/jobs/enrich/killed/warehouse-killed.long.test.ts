import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { queryDuckdb, type ReadRow } from "../../../io/output/tables/warehouse-readers.js";
import { enrichKilled, mostRepeated } from "../../../helpers/enrich-killed.js";
import type { RunReputeResult } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import {
  countOf,
  inputOf,
  manifestOf,
  places,
  prepared,
  rowsWithoutTimes,
} from "../../../helpers/warehouse-run.js";

describe.each(places)("$kind", ({ kind, output, base, from, database }) => {
  const query = (cwd: string, sql: (from: string) => string): Promise<readonly ReadRow[]> =>
    queryDuckdb(
      sql(from.replace("FOLDER", cwd)),
      database === undefined ? undefined : join(cwd, database),
    );

  it("has each row once after a run that is killed repeatedly", async () => {
    const { cwd, server, distinct } = await prepared(6_000);
    const calm = await prepared(6_000);
    await calm.enrich(["in.csv", "-o", output]);

    const random = seeded(kind.length * 104_729);
    const kills = 2;
    let killed = 0;
    let run: RunReputeResult;
    do {
      const early = Math.floor(random() * (distinct / kills));
      // The last kills happen once everything is requested: while rows are committed, counted and
      // published.
      const kill =
        killed < kills
          ? { requests: 1 + early, ms: 0 }
          : killed < kills + 2
            ? { requests: 1, ms: Math.floor(100 + random() * 500) }
            : null;
      run = await enrichKilled({
        server,
        cwd,
        args: ["in.csv", "-o", output, "--resume"],
        kill,
      });
      if (run.code === null) killed++;
      // A kill may come after everything is done, just before the process exits.
    } while (run.code === null && existsSync(join(cwd, `${base}.state`)));
    expect([0, null]).toContain(run.code);
    expect(run.stderr).toBe("");
    expect(killed).toBeGreaterThanOrEqual(kills);
    expect(await query(cwd, countOf)).toEqual([{ n: 6_000n, keys: 6_000n, last: 6_000n }]);
    expect(await query(cwd, rowsWithoutTimes)).toEqual(await query(calm.cwd, rowsWithoutTimes));
    expect(server.total - distinct).toBeLessThanOrEqual(killed * mostRepeated);
    expect(existsSync(join(cwd, `${base}.state`))).toBe(false);
    expect(await manifestOf(cwd, base)).toMatchObject({ output: { rows: 6_000 } });
  });
});

it("a DuckDB table keeps earlier nights when a run is started over with --restart", async () => {
  const output = "duckdb:out.duckdb?table=nightly";
  const { cwd, server, enrich } = await prepared(100);
  const query = (sql: string): Promise<readonly ReadRow[]> =>
    queryDuckdb(sql, join(cwd, "out.duckdb"));
  await enrich(["in.csv", "-o", output]);
  const first = await manifestOf(cwd, "out.duckdb.nightly");
  await writeFile(join(cwd, "in.csv"), inputOf(12_000, "other"));
  const args = ["in.csv", "-o", output];
  expect((await enrichKilled({ server, cwd, args, kill: pastCheckpoint })).signal).toBe("SIGKILL");
  expect(await query(countOf("nightly"))).toMatchObject([{ n: 100n }]);
  await writeFile(join(cwd, "in.csv"), inputOf(200, "other"));
  expect((await enrich([...args, "--restart"])).code).toBe(0);
  const second = await manifestOf(cwd, "out.duckdb.nightly");
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
