import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rmdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it, onTestFinished } from "vitest";
import { queryDuckdb, type ReadRow } from "./warehouse-readers.js";
import { runRepute, startRepute } from "../../../helpers/run-repute.js";
import { countOf, places, prepared } from "../../../helpers/warehouse-run.js";

describe.each(places)("$kind", ({ kind, output, base, from, database }) => {
  const query = (cwd: string, sql: (from: string) => string): Promise<readonly ReadRow[]> =>
    queryDuckdb(
      sql(from.replace("FOLDER", cwd)),
      database === undefined ? undefined : join(cwd, database),
    );

  it("accepts the rows, leaves only the manifest beside it, and lets verify detect a missing row", async () => {
    const { cwd, enrich, manifest: manifestOf } = await prepared(10);
    const { code, stderr } = await enrich(["in.csv", "-o", output]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await query(cwd, countOf)).toEqual([{ n: 10n, keys: 10n, last: 10n }]);
    const file = database ?? base;
    expect((await readdir(cwd)).sort()).toEqual(["in.csv", file, `${base}.manifest.json`].sort());
    const manifest = await manifestOf(base);
    expect(manifest.output).toMatchObject({ path: output, format: kind, rows: 10 });
    expect(manifest.output.sha256 === null).toBe(kind !== "parquet");
    const [row] = await query(
      cwd,
      (rows) => `SELECT n, domain, rep_run_id, rep_tags, rep_first_seen FROM ${rows} LIMIT 1`,
    );
    expect(row).toMatchObject({
      n: "0",
      domain: "host-0.example.com",
      rep_run_id: manifest.run_id,
      rep_first_seen: BigInt(Date.parse("2025-01-01T00:00:00Z")) * 1000n,
    });
    expect(Array.isArray(row?.["rep_tags"])).toBe(true);

    const fine = await runRepute(["verify", output], { cwd });
    expect(fine).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/10 rows.*, matches its manifest\n$/),
    });
    const service = ["--intel-url", "http://127.0.0.1:1/beta"];
    const retry = await runRepute(["retry", output, "-o", "again.csv", ...service], { cwd });
    expect(retry.code).toBe(2);
    expect(retry.stderr).toMatch(
      /is parquet, and so is its retry[^]*leave out -o|repeat the run with --mode merge/,
    );
    if (database === undefined) {
      const path = join(cwd, base);
      const bytes = await readFile(path);
      // The name of the writer, in the footer: every row can still be read.
      bytes.write("R", bytes.lastIndexOf("repute version"));
      await writeFile(path, bytes);
    } else await query(cwd, (rows) => `DELETE FROM ${rows} WHERE rep_row = 3`);
    const damaged = await runRepute(["verify", output], { cwd });
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toMatch(
      database === undefined ? /sha256|not as it was written/ : /table has 9/,
    );
  });

  it("refuses an input column named like an added one, before any request", async () => {
    const { cwd, server, enrich } = await prepared(0);
    await writeFile(join(cwd, "in.csv"), "domain,Rep_Status\na.example.com,x\n");
    const { code, stderr } = await enrich(["in.csv", "-o", output]);
    expect({ code, asked: server.total }).toEqual({ code: 2, asked: 0 });
    expect(stderr).toMatch(/Rep_Status[^]*--prefix/);
    expect(existsSync(join(cwd, `${base}.state`))).toBe(false);
  });
});

describe("a table of a DuckDB file", () => {
  const output = "duckdb:out.duckdb?table=nightly";
  const base = "out.duckdb.nightly";
  const query = (cwd: string, sql: string): Promise<readonly ReadRow[]> =>
    queryDuckdb(sql, join(cwd, "out.duckdb"));

  it.each([
    ["--resume", 10n, 1],
    ["--restart", 20n, 0],
  ])("after a run that ended between its rows and its manifest, %s leaves %i", async (...given) => {
    const [how, n, resumed] = given;
    const { cwd, enrich, manifest } = await prepared(10);
    await mkdir(join(cwd, `${base}.manifest.json`));
    expect((await enrich(["in.csv", "-o", output])).code).toBe(1);
    await rmdir(join(cwd, `${base}.manifest.json`));
    expect(await enrich(["in.csv", "-o", output])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/an interrupted run of .* exists[^]*--resume[^]*--restart/),
    });
    expect(await enrich(["in.csv", "-o", output, how])).toMatchObject({ code: 0 });
    expect(await query(cwd, countOf("nightly"))).toEqual([{ n, keys: n, last: 10n }]);
    expect(await manifest(base)).toMatchObject({ output: { rows: 10 }, resumed });
  });
});

it("stops on SIGINT while a database does not answer", async () => {
  const { cwd, server } = await prepared(3);
  const silent = createServer();
  const reached = once(silent, "connection");
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const table = `postgres://me@127.0.0.1:${port}/x?table=enriched`;
  const args = ["enrich", "in.csv", "-o", table, "--intel-url", server.url];
  const { child, result } = startRepute(args, { cwd });
  await Promise.race([reached, result]);
  child.kill("SIGINT");
  expect(await result).toMatchObject({
    code: 130,
    stderr: expect.stringContaining(
      "repute: stopped by SIGINT\n  nothing was saved; run the command again\n",
    ) as string,
  });
  expect(await readdir(cwd)).toEqual(["in.csv"]);
});

it("verifies a DuckDB file that another program reads, without writing to it", async () => {
  const { cwd, enrich } = await prepared(10);
  const output = "duckdb:out.duckdb?table=nightly";
  expect(await enrich(["in.csv", "-o", output])).toMatchObject({ code: 0 });
  const file = join(cwd, "out.duckdb");
  const before = await readFile(file);
  // DuckDB allows many readers of a file, or one writer.
  const reader = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  onTestFinished(() => reader.closeSync());
  const { code, stdout } = await runRepute(["verify", output], { cwd });
  expect([code, stdout]).toEqual([0, `${output}: 10 rows, matches its manifest\n`]);
  expect((await readFile(file)).equals(before)).toBe(true);
});
