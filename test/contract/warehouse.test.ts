import { join } from "node:path";
import { describeWarehouse } from "./warehouse-contract.js";
import { queryDuckdb, readParquet } from "./warehouse-readers.js";

describeWarehouse({
  name: "parquet, read by hyparquet",
  output: (folder) => join(folder, "out.parquet"),
  read: (folder) => readParquet(join(folder, "out.parquet")),
});

describeWarehouse({
  name: "parquet, read by DuckDB",
  output: (folder) => join(folder, "out.parquet"),
  read: (folder) =>
    queryDuckdb(`FROM read_parquet('${join(folder, "out.parquet")}') ORDER BY rep_row`),
});

describeWarehouse({
  name: "duckdb",
  output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
  read: (folder) => queryDuckdb("FROM enriched ORDER BY rep_row", join(folder, "out.duckdb")),
});
