import { join } from "node:path";
import { describeTableNights } from "../contract/table-nights.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";

describeTableNights({
  name: "duckdb",
  output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
  sql: async (folder, text) =>
    (await queryDuckdb(text("enriched"), join(folder, "out.duckdb"))) as Readonly<
      Record<string, string | null>
    >[],
});
