import { existsSync } from "node:fs";
import { join } from "node:path";
import { describePublication, describeTypedColumns, type PublicationPlace } from "./publication.js";
import { queryDuckdb, readParquet } from "../tables/warehouse-readers.js";

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

// The contract reads Parquet with one reader; columns are read with both.
for (const place of typed.slice(1)) describePublication(place);
for (const place of typed) describeTypedColumns(place);
