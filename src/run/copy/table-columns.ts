import type { InputType } from "../../formats/typed-column.js";
import type { TableInput } from "../../outputs/tables/types.js";

/** Ends the reading of a table whose columns are known. */
class ColumnsKnown extends Error {}

interface TableColumns {
  readonly inputColumns: readonly string[];
  readonly inputTypes: readonly InputType[];
}

/** The columns of a table. Its rows are not read. @throws as `TableInput.read` */
export async function tableColumns(table: TableInput, signal: AbortSignal): Promise<TableColumns> {
  let columns: TableColumns = { inputColumns: [], inputTypes: [] };
  const known = new ColumnsKnown();
  const receiver = {
    begin(inputColumns: readonly string[], inputTypes: readonly InputType[]): Promise<void> {
      columns = { inputColumns, inputTypes };
      return Promise.reject(known);
    },
    rows: () => Promise.resolve(),
  };
  await table.read(receiver, { signal, onWarning: () => undefined }).catch((error: unknown) => {
    if (error !== known) throw error;
  });
  return columns;
}
