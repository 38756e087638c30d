import { renameSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { holdDuckdb } from "../../../helpers/held-duckdb.js";
import { startRepute } from "../../../helpers/run-repute.js";
import { type Prepared, prepared } from "../../../helpers/warehouse-run.js";
import { queriesTo } from "../../../helpers/workspace.js";

function enrich({ server }: Prepared, ...args: readonly string[]): readonly string[] {
  return ["enrich", "in.csv", ...args, ...queriesTo(server)];
}

it.each(["out.csv", "duckdb:out.duckdb?table=t"])(
  "a second run into %s is refused, and the first one says how to continue when interrupted",
  async (output) => {
    const place = await prepared(2_000);
    const { cwd, run, server } = place;
    const args = enrich(place, "-o", output);
    const asked = server.untilAsked(20);
    const { child, result } = startRepute([...args, "--rate", "100/s"], { cwd });
    await Promise.race([asked, result]);
    const { code, stderr } = await run(...args, "--resume");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("another run is writing this output"),
    ]);
    child.kill("SIGINT");
    expect(await result).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(
        /repute: stopped by SIGINT\n {2}.*progress is saved; to continue, repeat the command with --resume\n/,
      ) as string,
    });
  },
);

it("two runs at once into a table of a DuckDB file wait for each other", async () => {
  const places = [await prepared(100), await prepared(100)];
  const file = places[0]!.at("out.duckdb");
  const runs = [];
  for (const place of places) {
    const { cwd, server } = place;
    const args = enrich(place, "-o", `duckdb:${file}?table=t`, "--state-dir", ".", "--quiet");
    const run = startRepute(args, { cwd });
    // Its check is over, and it publishes nothing before the other one has begun.
    const begun = server.untilAsked(1).then(() => void run.child.kill("SIGSTOP"));
    await Promise.race([begun, run.result]);
    runs.push(run);
  }
  const other = await DuckDBInstance.create(file);
  for (const { server } of places) server.onRequest = () => true;
  for (const { child } of runs) child.kill("SIGCONT");
  // One that has ended has failed, which the next lines show.
  const ended = Promise.race(runs.map(({ result }) => result));
  while (places.some(({ server, distinct }) => server.total < distinct)) {
    if ((await Promise.race([ended, delay(5)])) !== undefined) break;
  }
  other.closeSync();
  for (const { result } of runs) {
    expect(await result).toMatchObject({ code: 0, stderr: "" });
  }
  const counts = `SELECT count(*) AS n, count(DISTINCT rep_row) AS keys FROM t GROUP BY rep_run_id`;
  const each = { n: 100n, keys: 100n };
  expect(await queryDuckdb(counts, file)).toEqual([each, each]);
});

it("a run whose DuckDB file another program keeps open is published by a resume without a request", async () => {
  const place = await prepared(50);
  const { at, runWith, server } = place;
  const release = await holdDuckdb(at("held.duckdb"));
  server.onRequest = (total) => {
    if (total === 1) renameSync(at("held.duckdb"), at("out.duckdb"));
    return true;
  };
  const output = "duckdb:out.duckdb?table=t";
  const clock = new HurriedClock();
  const first = await runWith({ clock }, ...enrich(place, "-o", output));
  expect([first.code, first.stderr]).toEqual([
    1,
    expect.stringMatching(
      /\?table=t: another program has it open\n {2}close the other program.*\n? .*--resume\n/,
    ),
  ]);
  expect(clock.asked.filter((ms) => ms === 1_000)).toHaveLength(59);
  const { total } = server;
  expect(await runWith({ clock }, ...enrich(place, "-o", output))).toMatchObject({ code: 2 });
  await release();
  const resumed = await runWith({ clock }, ...enrich(place, "-o", output, "--resume"));
  expect([resumed.code, server.total]).toEqual([0, total]);
  const counts = "SELECT count(*) AS n, count(DISTINCT rep_row) AS keys FROM t";
  expect(await queryDuckdb(counts, at("out.duckdb"))).toEqual([{ n: 50n, keys: 50n }]);
});
