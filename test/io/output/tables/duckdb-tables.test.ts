import { join } from "node:path";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { describeTableModes, duckdbPlace } from "./table-modes.js";
import { describeTableRecipes } from "./table-recipes.js";
import { describeTableViews } from "./table-views.js";
import { queryDuckdb } from "./warehouse-readers.js";

describeTableModes(duckdbPlace);

describeTableRecipes({
  name: "DuckDB",
  output: () => "duckdb:out.duckdb?table=enriched",
  query: (sql) => `duckdb:out.duckdb?query=${sql}`,
  dump: "'dump.csv'",
  sql: (folder, text) => queryDuckdb(text, join(folder, "out.duckdb")),
});

describeTableViews({
  name: "duckdb",
  open: async (statements) => {
    const file = join(await temporaryFolder(), "views.duckdb");
    await queryDuckdb(statements, file);
    return (sql) => queryDuckdb(sql, file);
  },
});
