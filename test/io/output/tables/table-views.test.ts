import { join } from "node:path";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { describeTableViews } from "./table-views.js";
import { queryDuckdb } from "./warehouse-readers.js";

describeTableViews({
  name: "duckdb",
  open: async (statements) => {
    const file = join(await temporaryFolder(), "views.duckdb");
    await queryDuckdb(statements, file);
    return (sql) => queryDuckdb(sql, file);
  },
});
