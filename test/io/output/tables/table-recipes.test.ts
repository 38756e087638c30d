import { join } from "node:path";
import { describeTableRecipes } from "./table-recipes.js";
import { queryDuckdb } from "./warehouse-readers.js";

describeTableRecipes({
  name: "DuckDB",
  output: () => "duckdb:out.duckdb?table=enriched",
  query: (sql) => `duckdb:out.duckdb?query=${sql}`,
  dump: "'dump.csv'",
  sql: (folder, text) => queryDuckdb(text, join(folder, "out.duckdb")),
});
