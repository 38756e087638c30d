import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { passwordWarned, PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute, type RunReputeResult } from "../../../helpers/run-repute.js";
import { prepared } from "../../../helpers/warehouse-run.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

describe("enrich into a table", () => {
  it("creates the table and leaves only the manifest, in the state folder", async () => {
    const { cwd, server } = await prepared(50);
    const output = cluster.url({ parameters: { table: "fresh" } });
    const run = await enrichKilled({ server, cwd, args: ["in.csv", "-o", output], kill: null });
    expect(run).toMatchObject({ code: 0, stderr: passwordWarned });
    expect(await cluster.counts("fresh")).toEqual({ rows: 50, keys: 50, last: 50 });
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
    const { cwd, server } = await prepared(500);
    const output = cluster.url({ parameters: { table: "secret" } });
    const secrets = [cluster.password, encodeURIComponent(cluster.password)];
    const args = ["in.csv", "-o", output, "--resume"];
    const half = await enrichKilled({ server, cwd, args, kill: { requests: 300, ms: 0 } });
    expect(half.signal).toBe("SIGKILL");
    const kept = await textOf(cwd, output);
    const wrong = output.replace(/:[^:@/]+@/, ":wr0ng-secret@");
    const refused = await runRepute(["enrich", "in.csv", "-o", wrong, "--local", "--resume"], {
      cwd,
    });
    expect(refused.code).toBe(2);
    const whole = await enrichKilled({ server, cwd, args, kill: null });
    expect(whole).toMatchObject({ code: 0, stderr: passwordWarned });
    const said = [kept, refused.stderr, whole.stdout, await textOf(cwd, output)].join("\n");
    for (const secret of [...secrets, "wr0ng-secret"]) expect(said).not.toContain(secret);
  });

  it("shows a reader no row, then those of a run that stopped early, then all", async () => {
    const { cwd, server } = await prepared(3_000);
    const output = cluster.url({ parameters: { table: "watched" } });
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
});

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

/** The text of every file in the working folder, and of those of an output in the state folder. */
async function textOf(cwd: string, output: string): Promise<string> {
  const base = parseOutput(output).base();
  return (await textUnder(cwd)) + (await textUnder(dirname(base), base));
}

/** The text of every file under a folder whose path begins like this. */
async function textUnder(folder: string, begin = folder): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
  const own = paths.filter((path) => path.startsWith(begin));
  return (await Promise.all(own.map((path) => readFile(path, "latin1")))).join("\n");
}
