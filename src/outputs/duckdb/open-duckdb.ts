import { RunRows, mustMatch, tableMissing } from "../warehouse/run-rows.js";
import { existsSync } from "node:fs";
import { cellReaders } from "../warehouse/cell-values.js";
import { ColumnBatch } from "../warehouse/column-batch.js";
import type { BatchBounds } from "../warehouse/column-batch.js";
import { checkpointTableName } from "../warehouse/dialect.js";
import { tableSchema } from "../warehouse/table-schema.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import type {
  OpenedWarehouse,
  UnfinishedRun,
  WarehouseAudit,
  WarehouseOptions,
  WarehouseRun,
} from "../warehouse/types.js";
import { DuckdbDatabase } from "./duckdb-database.js";
import { DuckdbSink } from "./duckdb-sink.js";
import { hasTable, prepareTable } from "./duckdb-table.js";
import { openLoader } from "./loader.js";

/** Rows that go to DuckDB at once: its vectors hold 2,048. */
const chunkBounds: BatchBounds = { rows: 2_048, characters: 8 * 1024 * 1024 };

/**
 * Opens a table of a DuckDB file as output; file and table are created where they are missing.
 *
 * @throws UsageError `driver_missing`, `column_clash`, `table_*`, `output_*`; FatalError `output_*`
 */
export async function openDuckdb(
  target: DuckdbTarget,
  options: WarehouseOptions,
): Promise<OpenedWarehouse> {
  const { runId, prefix } = options;
  const schema = tableSchema("duckdb", { inputColumns: options.columns, prefix });
  const readers = cellReaders(schema, {
    runId,
    onWarning: options.onWarning ?? (() => undefined),
  });
  const database = await DuckdbDatabase.open(target);
  try {
    const found = await prepareTable(database, target.table, schema);
    const run = new RunRows("duckdb", target.table, { runId, prefix });
    const note = await run.note(database.query);
    const rows = await run.count(database.query);
    mustMatch(target.display, options.resume, { rows, note });
    const loader = await openLoader(database, target.table, schema, found);
    const batch = new ColumnBatch(readers, chunkBounds);
    const sink = new DuckdbSink({ target, database, loader, batch, run, rows });
    return { sink, note, rows, audit: () => sink.audit() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Takes the rows of an unfinished run out again. A run that is finished has no note and stays,
 * unless it is known to have ended before its end.
 *
 * @throws UsageError `driver_missing`, `output_*`; FatalError `output_*`
 */
export async function discardFromDuckdb(target: DuckdbTarget, run: UnfinishedRun): Promise<void> {
  if (!existsSync(target.file)) return;
  const database = await DuckdbDatabase.open(target);
  try {
    const notes = { ...target.table, name: checkpointTableName };
    if (!(await hasTable(database, target.table)) || !(await hasTable(database, notes))) return;
    const rows = new RunRows("duckdb", target.table, run);
    if (run.complete !== true && (await rows.note(database.query)) === null) return;
    await database.transaction(async () => {
      await rows.removeRows(database.query);
      await rows.removeNote(database.query);
    });
  } finally {
    database.close();
  }
}

/**
 * Counts what is there of a finished run.
 *
 * @throws UsageError `driver_missing`; FatalError `output_*`
 */
export async function recountDuckdb(
  target: DuckdbTarget,
  run: WarehouseRun,
): Promise<WarehouseAudit> {
  if (!existsSync(target.file)) throw tableMissing(target.display);
  const database = await DuckdbDatabase.open(target, "read");
  try {
    if (!(await hasTable(database, target.table))) throw tableMissing(target.display);
    return await new RunRows("duckdb", target.table, run).audit(database.query, target.display);
  } finally {
    database.close();
  }
}
