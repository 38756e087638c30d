import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { namedParts } from "../../src/outputs/data-set/data-set.js";
import { describePublication, describeTypedColumns, type PublicationPlace } from "./publication.js";
import { someParts } from "./publishing.js";
import { queryDuckdb, type ReadRow, readParquet } from "./warehouse-readers.js";

const parquet = (folder: string): string => join(folder, "out.parquet");

const typed: readonly PublicationPlace[] = [
  {
    name: "parquet, read by hyparquet",
    output: parquet,
    read: async (folder) => (existsSync(parquet(folder)) ? readParquet(parquet(folder)) : []),
    appends: false,
  },
  {
    name: "parquet, read by DuckDB",
    output: parquet,
    read: async (folder) =>
      existsSync(parquet(folder))
        ? queryDuckdb(`FROM read_parquet('${parquet(folder)}') ORDER BY rep_row`)
        : [],
    appends: false,
  },
  {
    name: "duckdb",
    output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
    read: async (folder) =>
      existsSync(join(folder, "out.duckdb"))
        ? queryDuckdb("FROM enriched ORDER BY rep_run_id, rep_row", join(folder, "out.duckdb"))
        : [],
    appends: true,
  },
];

const dataSets: readonly PublicationPlace[] = [
  {
    name: "data set of Parquet",
    output: (folder) => `${join(folder, "set")}/`,
    read: (folder) => readParts(folder, readParquet),
    parts: someParts("parquet", 1_000),
    appends: false,
  },
  {
    name: "data set of CSV",
    output: (folder) => `${join(folder, "set")}/`,
    read: (folder) => readParts(folder, readCsv),
    parts: someParts("csv", 700),
    appends: false,
  },
];

async function readParts(
  folder: string,
  read: (path: string) => Promise<readonly ReadRow[]>,
): Promise<readonly ReadRow[]> {
  const parts = await namedParts(join(folder, "set"));
  return (await Promise.all(parts.map(({ name }) => read(join(folder, "set", name))))).flat();
}

/** The first cell of each row, which needs no quotes. */
async function readCsv(path: string): Promise<readonly ReadRow[]> {
  const [header = "", ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n");
  expect(header).toMatch(/^ip,rep_item,/);
  return lines.map((line) => ({ ip: line.split(",", 1)[0] }));
}

// The contract reads Parquet with one reader; columns are read with both.
for (const place of [...typed.slice(1), ...dataSets]) describePublication(place);
for (const place of typed) describeTypedColumns(place);
