import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, describe, expect, it } from "vitest";
import type { Manifest } from "../../../../src/core/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichKilled } from "../../../helpers/enrich-killed.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute, type RunReputeResult } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

await cluster.query("CREATE TABLE typed AS SELECT '192.0.2.1'::inet AS ip, NULL::text AS nothing");

/** The address of a query; it is SQL as typed. */
function queryOf(sql: string): string {
  return `${cluster.url()}?query=${sql}`;
}

function enrichHere(input: string, ...args: readonly string[]): Promise<RunReputeResult> {
  return runRepute(["enrich", input, "--local", "--lookups", "query", ...args]);
}

describe("a PostgreSQL table as input", () => {
  it.each([
    ["SELECT * FORM typed", /syntax error at or near "FORM"/],
    ["SELECT 1; DROP TABLE typed", /has several statements/],
    ["DELETE FROM typed", /syntax error at or near "DELETE"/],
    ["WITH x AS (DELETE FROM typed RETURNING *) SELECT * FROM x", /data-modifying statements/],
    ["SELECT nextval('numbers')", /cannot execute nextval\(\) in a read-only transaction/],
    ["SELECT nothere FROM typed", /column "nothere" does not exist/],
    ["SELECT 1/0 AS item", /division by zero/],
  ])("refuses %s", async (sql, said) => {
    await cluster.query("CREATE SEQUENCE IF NOT EXISTS numbers");
    const { code, stderr } = await enrichHere(queryOf(sql));
    expect(stderr).toMatch(said);
    expect(code).toBe(2);
    expect(stderr).not.toContain(encodeURIComponent(cluster.password));
    expect(await cluster.query("SELECT count(*) AS n FROM typed")).toEqual([{ n: "1" }]);
  });

  it("explains a table that is not there", async () => {
    const { code, stderr } = await enrichHere(cluster.url({ parameters: { table: "typd" } }));
    expect(stderr).toMatch(/relation "typd" does not exist/);
    expect(code).toBe(2);
  });

  it("takes the password from the environment, and says what to do without one", async () => {
    const url = cluster.url({ password: null, parameters: { table: "typed" } });
    const args = ["plan", url, "--item-column", "ip"];
    const known = await runRepute(args, { env: { PGPASSWORD: cluster.password } });
    expect(known).toMatchObject({ code: 0 });
    const unknown = await runRepute(args, { env: { PGPASSFILE: "/nonexistent" } });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/requires a password[^]*PGPASSWORD or ~\/\.pgpass/);
  });

  it("is one of several inputs, named without its password", async () => {
    await cluster.query(
      "CREATE TABLE one_of AS SELECT 'a.example.com' AS host, NULL::text AS note",
    );
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "a.csv"), "ip,note\n192.0.2.1,x\n");
    const url = cluster.url({ parameters: { table: "one_of" } });
    const args = ["enrich", "a.csv", url, "-o", "out.csv", "--local", "--lookups", "query"];
    const { code, stderr } = await runRepute(args, { cwd });
    expect(code, stderr).toBe(0);
    const written = await readFile(join(cwd, "out.csv"), "utf8");
    const name = `postgres://postgres@127.0.0.1:${cluster.port}/postgres?table=one_of`;
    const rows = parse(written, { columns: true }) as Record<string, string>[];
    expect(rows.map((row) => [row["rep_item"], row["rep_file"]])).toEqual([
      ["192.0.2.1", "a.csv"],
      ["a.example.com", name],
    ]);
    const manifest = await readFile(join(cwd, "out.csv.manifest.json"), "utf8");
    expect((JSON.parse(manifest) as Manifest).inputs).toMatchObject([
      { path: "a.csv" },
      { path: name, format: "postgres", rows: 1 },
    ]);
    expect(written + manifest + stderr).not.toContain(encodeURIComponent(cluster.password));
  });

  it("is read once: changed, and with the server's table gone, the run continues", async () => {
    const { cwd, server } = await prepared();
    await dumpTable("vanishing", 1_500);
    const source = cluster.url({ parameters: { table: "vanishing" } });
    const args = [source, "-o", "out.csv", "--resume"];
    const kill = { requests: 1_000, ms: 0 };
    expect(await enrichKilled({ server, cwd, args, kill })).toMatchObject({ signal: "SIGKILL" });
    await cluster.query("DROP TABLE vanishing");
    expect(await enrichKilled({ server, cwd, args, kill: null })).toMatchObject({ code: 0 });
    const rows = parse(await readFile(join(cwd, "out.csv")), { columns: true }) as { n: string }[];
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 1_500 }, (_, n) => String(n)));
    const text = await readFile(join(cwd, "out.csv.manifest.json"), "utf8");
    const { input } = JSON.parse(text) as Manifest;
    expect(input).toMatchObject({
      path: `postgres://postgres@127.0.0.1:${cluster.port}/postgres?table=vanishing`,
      format: "postgres",
      rows: 1_500,
    });
    expect(text).not.toContain(encodeURIComponent(cluster.password));
  });
});

interface Prepared {
  readonly cwd: string;
  readonly server: AnsweringServer;
}

async function prepared(): Promise<Prepared> {
  const server = await startAnsweringServer();
  return { cwd: await temporaryFolder(), server };
}

async function dumpTable(name: string, rows: number): Promise<void> {
  await cluster.query(
    `CREATE TABLE ${name} AS SELECT n, 'host-' || n || '.example.com' AS item
     FROM generate_series(0, ${rows - 1}) AS n`,
  );
}
