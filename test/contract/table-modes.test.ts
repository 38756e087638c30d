import { join } from "node:path";
import { describeTableModes } from "./table-modes.js";
import { queryDuckdb } from "./warehouse-readers.js";

describeTableModes({
  name: "duckdb",
  output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
  sql: async (folder, text) =>
    (await queryDuckdb(text("enriched"), join(folder, "out.duckdb"))) as Readonly<
      Record<string, string | null>
    >[],
});
