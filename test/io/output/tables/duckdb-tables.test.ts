import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import { checkDocumentedQueries, writeTwoNights } from "../../../helpers/documented-queries.js";
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

it("runs the documented queries on DuckDB", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "intel.duckdb");
  await writeTwoNights(`duckdb:${file}?table=enriched`, folder, Date.now());
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const ask = async (query: string) => (await connection.runAndReadAll(query)).getRows();
  await expect(checkDocumentedQueries(ask)).resolves.toBeUndefined();
  connection.closeSync();
  instance.closeSync();
});
