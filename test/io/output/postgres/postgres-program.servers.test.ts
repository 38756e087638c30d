import { existsSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { enrich } from "../../../../src/jobs/enrich/execute.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled, mostRepeated } from "../../../helpers/enrich-killed.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { passwordWarned, PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute, type RunReputeResult } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { jobHere } from "../../../helpers/job-here.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

describe("enrich into a table", () => {
  it("creates the table and leaves only the manifest, in the state folder", async () => {
    const { cwd, output, server } = await prepared("fresh", 50);
    const run = await enrichKilled({ server, cwd, args: ["in.csv", "-o", output], kill: null });
    expect(run).toMatchObject({ code: 0, stderr: passwordWarned });
    expect(await countsOf("fresh")).toEqual({ rows: "50", keys: "50", last: "50" });
    expect(await readdir(cwd)).toEqual(["in.csv"]);
    const base = parseOutput(output).base();
    const kept = (await readdir(dirname(base))).filter((name) => name.startsWith(basename(base)));
    expect(kept).toEqual([
      expect.stringMatching(/^repute-127.*-fresh-[0-9a-f]{8}\.manifest\.json$/),
    ]);
    const manifest = await manifestOf(output);
    expect(manifest.output).toEqual({
      path: `postgres://postgres@127.0.0.1:${cluster.port}/postgres?table=fresh`,
      format: "postgres",
      bytes: null,
      rows: 50,
      sha256: null,
    });
    expect(await cluster.query("SELECT count(*) FROM fresh_newest")).toEqual([{ count: "45" }]);
    const verified = await runRepute(["verify", output], { cwd });
    expect(verified).toMatchObject({ code: 0, stderr: passwordWarned });
    expect(verified.stdout).toMatch(/^postgres:.*table=fresh: 50 rows, matches its manifest\n$/);
    await cluster.query("DELETE FROM fresh WHERE rep_row = 7");
    expect((await runRepute(["verify", output], { cwd })).stderr).toMatch(/the table has 49/);
  });

  it("neither shows nor stores the password", async () => {
    const { cwd, output, server } = await prepared("secret", 500);
    const secrets = [cluster.password, encodeURIComponent(cluster.password)];
    const args = ["in.csv", "-o", output, "--resume"];
    const half = await enrichKilled({ server, cwd, args, kill: { requests: 300, ms: 0 } });
    expect(half.signal).toBe("SIGKILL");
    const kept = await textOf(cwd, output);
    const wrong = output.replace(/:[^:@/]+@/, ":wr0ng-secret@");
    const refused = await runRepute(["enrich", "in.csv", "-o", wrong, "--local", "--resume"], {
      cwd,
      env: { REPUTE_DEBUG: "1" },
    });
    expect(refused.code).toBe(2);
    const whole = await enrichKilled({ server, cwd, args, kill: null });
    expect(whole).toMatchObject({ code: 0, stderr: passwordWarned });
    const said = [kept, refused.stderr, whole.stdout, await textOf(cwd, output)].join("\n");
    for (const secret of [...secrets, "wr0ng-secret"]) expect(said).not.toContain(secret);
  });

  it("shows nothing of a killed run, and keeps the rows of one that stopped early", async () => {
    const { cwd, output, server } = await prepared("restarted", 12_000);
    const args = ["in.csv", "-o", output];
    const half = await enrichKilled({ server, cwd, args, kill: pastCheckpoint });
    expect(half.signal).toBe("SIGKILL");
    const table = "SELECT to_regclass('restarted') AS found";
    expect(await cluster.query(table)).toEqual([{ found: null }]);

    const early = [...args, "--restart", "--max-requests", "1000"];
    expect(await enrichKilled({ server, cwd, args: early, kill: null })).toMatchObject({
      code: 75,
    });
    const { rows } = await countsOf("restarted");
    expect(Number(rows)).toBeGreaterThan(800);
    const restart = await enrichKilled({ server, cwd, args: [...args, "--restart"], kill: null });
    expect(restart.code).toBe(0);
    const runs = await cluster.query(
      "SELECT count(*) AS n FROM restarted GROUP BY rep_run_id ORDER BY 1",
    );
    expect(runs).toEqual([{ n: rows }, { n: "12000" }]);
  });

  it("shows a reader no row, then those of a run that stopped early, then all", async () => {
    const { cwd, output, server } = await prepared("watched", 3_000);
    const run = (...flags: readonly string[]) =>
      enrichKilled({ server, cwd, args: ["in.csv", "-o", output, ...flags], kill: null });
    const early = await countedDuring("watched", run("--max-requests", "1000"));
    expect(early).toEqual({ code: 75, seen: ["0", expect.any(String)] });
    const [, sofar = ""] = early.seen;
    const { output: written } = await manifestOf(output, "state/manifest.json");
    expect([Number(sofar) > 800, Number(sofar)]).toEqual([true, written.rows]);
    const rest = await countedDuring("watched", run("--resume"));
    expect(rest).toEqual({ code: 0, seen: [sofar, "3000"] });
    const whole = await countedDuring("watched", run());
    expect(whole).toEqual({ code: 0, seen: ["3000", "6000"] });
  });

  it("stores hostile names and values, replaced where necessary", async () => {
    const { cwd, output, server } = await prepared("hostile", 0);
    const names = [
      "domain",
      "select",
      'a "quote"',
      "xmin",
      "Case",
      "case",
      "n".repeat(63),
      "",
      "'; --",
    ];
    const row = Object.fromEntries(names.map((name) => [name, "a\0b\uD800"]));
    await writeFile(
      join(cwd, "in.ndjson"),
      `${JSON.stringify({ ...row, domain: "a.example.com" })}\n${JSON.stringify({ ...row, domain: "x".repeat(1024 * 1024) })}\n`,
    );
    const args = ["in.ndjson", "-o", output, "--item-column", "domain"];
    const run = await enrichKilled({ server, cwd, args, kill: null });
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/U\+0000[^]*invalid UTF-8/);
    const [stored] = await cluster.query("SELECT * FROM hostile WHERE rep_row = 1");
    expect(Object.values(stored ?? {}).slice(4, 3 + names.length)).toEqual(
      names.slice(1).map(() => "a\uFFFDb\uFFFD"),
    );
    const [large] = await cluster.query(
      "SELECT length(domain) AS n, rep_status FROM hostile WHERE rep_row = 2",
    );
    expect(large).toEqual({ n: 1024 * 1024, rep_status: "unsupported" });
  });
});

describe("a disturbed run into a table", () => {
  it("has each row once when the program is killed", async () => {
    const { cwd, output, server } = await prepared("killed", 6_000);
    const random = seeded(1);
    let killed = 0;
    let run: RunReputeResult;
    do {
      const early = { requests: 1 + Math.floor(random() * 1_500), ms: 0 };
      const late = { requests: 1, ms: Math.floor(50 + random() * 600) };
      const kill = killed < 3 ? early : killed < 5 ? late : null;
      const args = ["in.csv", "-o", output, "--resume"];
      run = await enrichKilled({ server, cwd, args, kill });
      if (run.code === null) killed++;
      // The kill may arrive when only the process has yet to exit.
    } while (run.code === null && hasState(output));
    expect([0, null]).toContain(run.code);
    expect(run.stderr).toBe(passwordWarned);
    expect(killed).toBeGreaterThan(2);
    expect(await countsOf("killed")).toEqual({ rows: "6000", keys: "6000", last: "6000" });
    expect(server.total - 5_400).toBeLessThanOrEqual(killed * mostRepeated);
  });

  it("ends with 1, resumable, if the server stays down", async () => {
    const { cwd, output, server } = await prepared("lost", 12_000);
    const job = jobHere({
      settings: {
        intelUrl: server.url,
        lookups: "query",
        rate: "1000000/s",
        output,
      },
      input: { path: join(cwd, "in.csv") },
      clock: new HurriedClock(),
    });
    // All tests share the state folder.
    const base = parseOutput(output).base();
    onTestFinished(async () => {
      await rm(`${base}.manifest.json`, { force: true });
      await rm(`${base}.state`, { recursive: true, force: true });
    });
    const lost = enrich(job).catch((error: unknown) => error);
    await asked(server, 6_000);
    await cluster.kill();
    expect(await lost).toMatchObject({
      code: "database_lost",
      hint: expect.stringContaining("--resume"),
    });
    await cluster.startServer();
    const resumed = { ...job.settings, run: { ...job.settings.run, resume: true } };
    const manifest = await enrich({ ...job, settings: resumed });
    expect(manifest).toMatchObject({ output: { rows: 12_000 }, resumed: 1 });
    expect(await countsOf("lost")).toEqual({ rows: "12000", keys: "12000", last: "12000" });
  });
});

/**
 * At most 4,096 of these rows are buffered, so at least 5,000 are written, which includes a
 * checkpoint.
 */
const pastCheckpoint = { requests: 10_000, ms: 0 };

interface Prepared {
  readonly cwd: string;
  readonly output: string;
  readonly server: AnsweringServer;
}

/** A working folder with `in.csv` and a service. */
async function prepared(table: string, rows: number): Promise<Prepared> {
  const server = await startAnsweringServer();
  const cwd = await temporaryFolder();
  // Every tenth row repeats an earlier item, one in a hundred has none.
  const lines = Array.from({ length: rows }, (_, n) => {
    if (n % 100 === 50) return `${n},setup.exe\n`;
    return `${n},host-${n % 10 === 9 ? n - 9 : n}.example.com\n`;
  });
  await writeFile(join(cwd, "in.csv"), `n,domain\n${lines.join("")}`);
  return { cwd, server, output: cluster.url({ parameters: { table } }) };
}

/** Resolves after this many requests to the service. */
function asked(server: AnsweringServer, requests: number): Promise<void> {
  return new Promise((resolve) => {
    server.onRequest = (total) => {
      if (total === requests) resolve();
      return true;
    };
  });
}

async function countsOf(table: string): Promise<Record<"rows" | "keys" | "last", string>> {
  const [counts] = await cluster.query<Record<"rows" | "keys" | "last", string>>(
    `SELECT count(*) AS rows, count(DISTINCT (rep_run_id, rep_row)) AS keys, max(rep_row) AS last FROM ${table}`,
  );
  return counts!;
}

/** The row counts that a reader sees while a run goes on and after it, without repetitions. */
async function countedDuring(table: string, run: Promise<RunReputeResult>) {
  const reader = cluster.client();
  await reader.connect();
  const seen: string[] = [];
  const count = async (): Promise<void> => {
    const found = await reader
      .query<{ count: string }>(`SELECT count(*) FROM ${table}`)
      .catch((error: { readonly code?: string }) => {
        if (error.code === "42P01") return { rows: [{ count: "0" }] };
        throw error;
      });
    const { count } = found.rows[0]!;
    if (count !== seen.at(-1)) seen.push(count);
  };
  const over = new AbortController();
  const ended = run.finally(() => over.abort());
  while (!over.signal.aborted) {
    await count();
    await delay(10);
  }
  await count();
  await reader.end();
  return { code: (await ended).code, seen };
}

/** The manifest of a table, which is in the state folder. */
async function manifestOf(output: string, name = "manifest.json"): Promise<Manifest> {
  return JSON.parse(await readFile(`${parseOutput(output).base()}.${name}`, "utf8")) as Manifest;
}

/** The text of every file in the working folder and the state folder. */
async function textOf(cwd: string, output: string): Promise<string> {
  return (await textUnder(cwd)) + (await textUnder(dirname(parseOutput(output).base())));
}

/** The text of every file under a folder. */
async function textUnder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map((entry) => readFile(join(entry.parentPath, entry.name), "latin1")),
  );
  return texts.join("\n");
}

/** True while the state of an unfinished run exists. */
function hasState(output: string): boolean {
  return existsSync(`${parseOutput(output).base()}.state`);
}
