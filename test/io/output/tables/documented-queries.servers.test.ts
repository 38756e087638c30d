import { afterAll, expect, it } from "vitest";
import { schemaText } from "../../../../src/jobs/schema/schema-text.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  checkDocumentedQueries,
  documentedQueries,
  writeTwoNights,
} from "../../../helpers/documented-queries.js";
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
