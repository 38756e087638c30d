import { afterAll } from "vitest";
import { describeTableNights } from "./table-nights.js";
import { PostgresCluster } from "../../helpers/postgres-cluster.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

/** One schema per folder. */
const schemas = new Map<string, string>();

function schemaOf(folder: string): string {
  const schema = schemas.get(folder) ?? `nights_${schemas.size}`;
  schemas.set(folder, schema);
  return schema;
}

describeTableNights({
  name: "postgres",
  modes: ["append", "replace"],
  output: (folder) => cluster.url({ parameters: { table: `${schemaOf(folder)}.enriched` } }),
  prepare: (folder) => cluster.query(`CREATE SCHEMA ${schemaOf(folder)}`),
  sql: (folder, text) => cluster.query(text(`${schemaOf(folder)}.enriched`)),
});
