import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { schemaText } from "../../../../src/io/output/schema-text.js";
import { columns } from "../../../../src/core/columns.js";
import { passwordWarned, PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  checkDocumentedQueries,
  documentedQueries,
  writeTwoNights,
} from "../../../helpers/documented-queries.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

it("runs the documented queries on PostgreSQL", async () => {
  const output = cluster.url({ parameters: { table: "enriched" } });
  await writeTwoNights(output, await temporaryFolder(), Date.now());
  let asked = 0;
  await checkDocumentedQueries(async (query) => {
    asked++;
    return (await cluster.query(query)).map((row) => Object.values(row));
  });
  expect(asked).toBeGreaterThanOrEqual(5);
});

it("finds the rows of tonight by the key", async () => {
  const run = "'01990000-0000-7000-8000-' || lpad((n / 5000)::text, 12, '0')";
  await cluster.query(
    `${schemaText("postgres", { columns: [], prefix: "rep_", table: "large" })}
     INSERT INTO large (rep_run_id, rep_row, rep_kind, rep_item, rep_status, rep_verdict)
     SELECT ${run}, n % 5000 + 1, 'ip', '192.0.2.' || n % 256, 'complete', 'none'
     FROM generate_series(0, 49999) AS n;
     ANALYZE large`,
  );
  const query = (await documentedQueries()).get("Rows of tonight")!.replaceAll("enriched", "large");
  const plan = (await cluster.query(`EXPLAIN ${query}`)).flatMap(Object.values).join("\n");
  expect(plan).toMatch(/Index (?:Only )?Scan/);
  expect(plan).toMatch(/Index Cond: \(rep_run_id = /);
  expect(plan).not.toContain("Seq Scan");
  expect(await cluster.query(query)).toHaveLength(5_000);
});

describe("the statements of repute schema --format postgres", () => {
  const input = fileURLToPath(new URL("../../../../samples/indicators.csv", import.meta.url));

  it("make a table that rows are written to, and a view of the newest ones", async () => {
    await cluster.query("CREATE SCHEMA intel");
    const table = "intel.hits";
    const args = ["schema", input, "--format", "postgres", "--table", table];
    const { code, stdout } = await runRepute(args);
    expect(code).toBe(0);
    await cluster.query(stdout);
    const found = await cluster.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns
       WHERE table_schema = 'intel' AND table_name = 'hits' ORDER BY ordinal_position`,
    );
    expect(found.map(({ column_name: name }) => name)).toEqual([
      "rep_run_id",
      "rep_row",
      "rep_loaded_at",
      "seen",
      "indicator",
      "note",
      ...columns.map(({ name }) => `rep_${name}`),
    ]);

    const output = cluster.url({ parameters: { table } });
    const cwd = await temporaryFolder();
    const enrich = ["enrich", input, "-o", output, "--local", "--quiet", "--fail-on", "never"];
    expect(await runRepute(enrich, { cwd })).toMatchObject({ code: 0, stderr: passwordWarned });
    const [counted] = await cluster.query(
      `SELECT (SELECT count(*) FROM intel.hits)::int AS rows,
              (SELECT count(DISTINCT (rep_kind, rep_item)) FROM intel.hits
               WHERE rep_item IS NOT NULL)::int AS items,
              (SELECT count(*) FROM intel.hits_newest)::int AS newest`,
    );
    expect(counted).toMatchObject({ rows: 24, newest: counted?.["items"] });
  });
});
