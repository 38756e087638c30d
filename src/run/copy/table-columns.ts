import type { TableInput } from "../../outputs/tables/types.js";

/** Ends the reading of a table whose columns are known. */
class ColumnsKnown extends Error {}

/** The columns of a table. Its rows are not read. @throws as `TableInput.read` */
export async function tableColumns(
  table: TableInput,
  signal: AbortSignal,
): Promise<readonly string[]> {
  let columns: readonly string[] = [];
  const known = new ColumnsKnown();
  const receiver = {
    begin(names: readonly string[]): Promise<void> {
      columns = names;
      return Promise.reject(known);
    },
    rows: () => Promise.resolve(),
  };
  await table.read(receiver, { signal, onWarning: () => undefined }).catch((error: unknown) => {
    if (error !== known) throw error;
  });
  return columns;
}
