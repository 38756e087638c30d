import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import { checkDocumentedQueries, writeTwoNights } from "../../../helpers/documented-queries.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

it("runs the documented queries on DuckDB", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "intel.duckdb");
  await writeTwoNights(`duckdb:${file}?table=enriched`, folder, Date.now());
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  let asked = 0;
  await checkDocumentedQueries(async (query) => {
    asked++;
    return (await connection.runAndReadAll(query)).getRows();
  });
  connection.closeSync();
  instance.closeSync();
  expect(asked).toBeGreaterThanOrEqual(5);
});
