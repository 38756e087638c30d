import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import {
  checkDocumentedQueries,
  documentedQueries,
  writeTwoNights,
} from "../../../helpers/documented-queries.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { queryDuckdb } from "./warehouse-readers.js";

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

it("finds all malicious items of the sample, whatever their kind", async () => {
  const cwd = await temporaryFolder();
  const input = fileURLToPath(new URL("../../../../samples/indicators.csv", import.meta.url));
  const output = "duckdb:intel.duckdb?table=enriched";
  const args = ["enrich", input, "-o", output, "--local", "--quiet", "--fail-on", "never"];
  expect(await runRepute(args, { cwd })).toMatchObject({ code: 0, stderr: "" });
  const query = (await documentedQueries()).get("Newly malicious since yesterday") ?? "";
  const rows = await queryDuckdb(query, join(cwd, "intel.duckdb"));
  expect(rows).toHaveLength(11);
  const kinds = new Set(rows.map((row) => row["rep_kind"]));
  expect(kinds).toEqual(new Set(["ip", "domain", "url", "sha1", "crypto_wallet", "email"]));
});
