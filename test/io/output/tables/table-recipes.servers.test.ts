import { afterAll } from "vitest";
import { describeTableRecipes } from "./table-recipes.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

describeTableRecipes({
  name: "PostgreSQL",
  output: () => cluster.url({ parameters: { table: "enriched" } }),
  query: (sql) => `${cluster.url()}?query=${sql}`,
  dump: "dump",
  async night(items, isFirst) {
    const tables = isFirst ? "dump, enriched, enriched_runs" : "dump";
    await cluster.query(`DROP TABLE IF EXISTS ${tables} CASCADE`);
    await cluster.query("CREATE TABLE dump (item) AS SELECT unnest($1::text[])", [items]);
  },
  sql: (_, text) => cluster.query(text),
});
