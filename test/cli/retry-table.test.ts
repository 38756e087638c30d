import { copyFile, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../helpers/answering-server.js";
import { runRepute, type RunReputeResult } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";

const table = "duckdb:out.duckdb?table=enriched";

interface Prepared {
  readonly cwd: string;
  readonly server: AnsweringServer;
  readonly run: (...args: readonly string[]) => Promise<RunReputeResult>;
  readonly query: (sql: string) => ReturnType<typeof queryDuckdb>;
}

/** A table of which every second row failed. */
async function prepared(rows = 200, ...flags: readonly string[]): Promise<Prepared> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const cwd = await temporaryFolder();
  const lines = Array.from({ length: rows }, (_, n) => `${n},host-${n}.example.com\n`);
  await writeFile(join(cwd, "in.csv"), `n,item\n${lines.join("")}`);
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "1000000/s"];
  const run = (...args: readonly string[]): Promise<RunReputeResult> =>
    runRepute([...args, ...service], { cwd });
  for (let n = 0; n < rows; n += 2) server.absent.add(`host-${n + 1}.example.com`);
  const first = await run(
    "enrich",
    "in.csv",
    "-o",
    table,
    "--retries",
    "0",
    "--max-failed",
    "100%",
    ...flags,
  );
  expect(first.code).toBe(3);
  server.absent.clear();
  return { cwd, server, run, query: (sql) => queryDuckdb(sql, join(cwd, "out.duckdb")) };
}

const counts = `SELECT rep_run_id, rep_status, count(*) AS n, count(DISTINCT rep_row) AS keys
  FROM enriched GROUP BY ALL ORDER BY ALL`;

describe("retry in a table", () => {
  it("fills in 600 failed rows of the newest run and nothing else", async () => {
    const { cwd, server, run, query } = await prepared(1_200);
    const failed = await query("SELECT rep_row FROM enriched WHERE rep_status = 'failed'");
    expect(failed).toHaveLength(600);
    const numbers = failed.map(({ rep_row: row }) => String(row)).join(",");
    const rest = `SELECT md5(string_agg(enriched::VARCHAR, '|' ORDER BY rep_row)) AS sum FROM enriched
      WHERE rep_row NOT IN (${numbers})`;
    const own = `SELECT md5(string_agg(concat_ws('|', rep_run_id, rep_row, n, item, rep_item, rep_kind, rep_extra), '|' ORDER BY rep_row)) AS sum FROM enriched`;
    const before = [await query(rest), await query(own)];
    const asked = server.total;

    const retried = await run("retry", table, "--json");
    expect(retried.code).toBe(0);
    expect(server.total - asked).toBe(600);
    expect([await query(rest), await query(own)]).toEqual(before);
    expect(await query(counts)).toMatchObject([
      { rep_status: "complete", n: 1_200n, keys: 1_200n },
    ]);
    const [filled] = await query(
      `SELECT count(*) AS n, count(rep_error_code) AS errors, count(rep_looked_up_at) AS times FROM enriched WHERE rep_row IN (${numbers})`,
    );
    expect(filled).toEqual({ n: 600n, errors: 0n, times: 600n });
    const loaded = `SELECT max(rep_loaded_at) FILTER (rep_row NOT IN (${numbers}))
      < min(rep_loaded_at) FILTER (rep_row IN (${numbers})) AS anew FROM enriched`;
    expect(await query(loaded)).toEqual([{ anew: true }]);
    const manifest = JSON.parse(retried.stdout) as Manifest;
    const [{ rep_run_id: runId } = {}] = await query("SELECT DISTINCT rep_run_id FROM enriched");
    expect(manifest).toMatchObject({
      run_id: runId,
      input: { path: table, rows: 1_200 },
      output: { path: table, rows: 1_200 },
      statuses: { complete: 1_200, failed: 0 },
      retried: { failed: { complete: 600 } },
    });
    const columns = "run_id, rows, complete, failed, none, malicious";
    const { none, malicious } = manifest.verdicts;
    const verdicts = { none: BigInt(none), malicious: BigInt(malicious) };
    expect(await query(`SELECT ${columns} FROM enriched_runs`)).toEqual([
      { run_id: runId, rows: 1_200n, complete: 1_200n, failed: 0n, ...verdicts },
    ]);
    expect(await runRepute(["verify", table], { cwd })).toMatchObject({ code: 0 });
    expect((await readdir(cwd)).filter((name) => name.includes("retry"))).toEqual([]);
  });

  it("continues where it was interrupted, and keeps what it filled in on --restart", async () => {
    const { cwd, server, run, query } = await prepared();
    const asked = server.total;
    const first = await run("retry", table, "--max-requests", "30");
    expect(first).toMatchObject({ code: 75 });
    const [{ n: left } = {}] = await query(
      "SELECT count(*) AS n FROM enriched WHERE rep_status = 'failed'",
    );
    expect(Number(left)).toBeLessThan(100);
    expect(await run("retry", table)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("an interrupted run of"),
    });
    // A run into the table is another matter: neither sees the other's state.
    await copyFile(join(cwd, "out.duckdb"), join(cwd, "copy.duckdb"));
    expect(await run("retry", table, "--resume")).toMatchObject({ code: 0 });
    expect(server.total - asked).toBe(100);
    expect(await query(counts)).toMatchObject([{ rep_status: "complete", n: 200n }]);

    await rm(join(cwd, "out.duckdb"));
    await copyFile(join(cwd, "copy.duckdb"), join(cwd, "out.duckdb"));
    expect(await run("retry", table, "--max-requests", "10")).toMatchObject({ code: 75 });
    expect(await run("retry", table, "--restart")).toMatchObject({ code: 0 });
    expect(await query(counts)).toMatchObject([{ rep_status: "complete", n: 200n }]);
  });

  it("fills in the results as received, of the run that --run names, and leaves the manifest of the other", async () => {
    const { cwd, run, query } = await prepared(40, "--raw");
    const raw = `SELECT count(rep_query) AS answers, count(rep_quick_check) AS checks,
      count(*) FILTER (rep_query::JSON->>'item' = rep_item) AS own,
      md5(string_agg(rep_query, '|' ORDER BY rep_row) FILTER (n::INT % 2 = 0)) AS others
      FROM enriched GROUP BY rep_run_id ORDER BY rep_run_id`;
    const [before] = await query(raw);
    expect(before).toMatchObject({ answers: 20n, checks: 0n, own: 20n });
    const [{ rep_run_id: older } = {}] = await query("SELECT DISTINCT rep_run_id FROM enriched");
    expect(await run("enrich", "in.csv", "-o", table, "--raw")).toMatchObject({ code: 0 });
    expect(await run("retry", table, "--run", "nothere")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has no rows of the run nothere"),
    });
    const name = (await readdir(cwd)).find((entry) => entry.endsWith("manifest.json")) ?? "";
    const manifest = await readFile(join(cwd, name), "utf8");
    expect(await run("retry", table, "--run", String(older))).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, name), "utf8")).toBe(manifest);
    expect(
      (await readdir(cwd)).filter((entry) => entry.endsWith(".retry.manifest.json")),
    ).toHaveLength(1);
    expect(await query(counts)).toMatchObject([{ n: 40n }, { n: 40n }]);
    const [filled] = await query(raw);
    expect(filled).toEqual({ ...before, answers: 40n, own: 40n });

    expect(await run("retry", table, "-o", "again.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("leave out -o"),
    });
    expect(await run("retry", "in.csv", "--run", "x", "-o", "again.csv")).toMatchObject({
      code: 2,
    });
  });
});
