import type { TableInput } from "../../outputs/tables/types.js";
import type { TableSchemaOptions } from "../../outputs/sql/table-schema.js";

/** Ends the reading of a table whose columns are known. */
class ColumnsKnown extends Error {}

type TableColumns = Pick<TableSchemaOptions, "columns" | "types">;

/** The columns of a table. Its rows are not read. @throws as `TableInput.read` */
export async function tableColumns(table: TableInput, signal: AbortSignal): Promise<TableColumns> {
  let found: TableColumns = { columns: [] };
  const known = new ColumnsKnown();
  const receiver = {
    begin(columns: TableColumns["columns"], types: TableColumns["types"]): Promise<void> {
      found = { columns, types };
      return Promise.reject(known);
    },
    rows: () => Promise.resolve(),
  };
  await table.read(receiver, { signal, onWarning: () => undefined }).catch((error: unknown) => {
    if (error !== known) throw error;
  });
  return found;
}
