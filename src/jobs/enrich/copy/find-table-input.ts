import type { Clock } from "../../../core/clock.js";
import type { RunInput } from "../../../io/input/types.js";
import type { TableSchemaOptions } from "../../../io/output/typed/table-schema.js";
import type { TableInput } from "../../../io/input/table-input.js";
import { readingOf } from "../rows/reading.js";
import type { ReadingSettings, RowSource } from "../row-source.js";

/**
 * How the rows of an input are read. Tables are copied to the run's folder first.
 *
 * @throws UsageError `text_option`
 */
export async function inputReading(
  input: RunInput,
  settings: ReadingSettings,
  clock?: Clock,
): Promise<RowSource> {
  const inputs = "inputs" in input ? input.inputs.map((named) => named.input) : [input];
  const tables = inputs.map((one) => ("path" in one ? (one.table ?? null) : null));
  if (tables.every((table) => table === null)) return readingOf(input, settings, clock);
  const { copiedReading } = await import("./copied-table.js");
  return copiedReading(input, tables, settings, clock);
}

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
