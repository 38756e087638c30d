import { afterAll, describe, expect, it } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute, type RunReputeResult } from "../../../helpers/run-repute.js";
import { workspace } from "../../../helpers/workspace.js";

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
    const place = await workspace({ "a.csv": "ip,note\n192.0.2.1,x\n" });
    const url = cluster.url({ parameters: { table: "one_of" } });
    const args = ["enrich", "a.csv", url, "-o", "out.csv", "--local", "--lookups", "query"];
    const { code, stderr } = await place.run(...args);
    expect(code, stderr).toBe(0);
    const name = `postgres://postgres@127.0.0.1:${cluster.port}/postgres?table=one_of`;
    const rows = await place.records();
    expect(rows.map((row) => [row["rep_item"], row["rep_file"]])).toEqual([
      ["192.0.2.1", "a.csv"],
      ["a.example.com", name],
    ]);
    expect((await place.manifest()).inputs).toMatchObject([
      { path: "a.csv" },
      { path: name, format: "postgres", rows: 1 },
    ]);
    const [written, manifest] = [
      await place.read("out.csv"),
      await place.read("out.csv.manifest.json"),
    ];
    expect(written + manifest + stderr).not.toContain(encodeURIComponent(cluster.password));
  });
});
