import { existsSync } from "node:fs";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { cellReaders } from "./cell-values.js";
import { checkpointTableName, type TableName } from "./dialect.js";
import { prepareTable } from "./prepare-table.js";
import { RunRows } from "./run-rows.js";
import type { ConnectOptions, TableDatabase, TableSession, TableTarget } from "./table-database.js";
import { tableSchema } from "./table-schema.js";
import { TableSink } from "./table-sink.js";
import type {
  OpenedWarehouse,
  UnfinishedRun,
  WarehouseAudit,
  WarehouseOptions,
  RunIdentity,
} from "./types.js";

export type Connect<T extends TableTarget> = (
  target: T,
  options: ConnectOptions,
) => Promise<TableDatabase>;

/**
 * Opens a table as output. Creates a missing one, with a view of each item's newest row.
 * @throws UsageError `driver_missing`, `column_clash`, `schema_missing`, `table_*`, `not_a_table`;
 *   FatalError `output_table_differs`; errors of the database
 */
export async function openTable<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: WarehouseOptions,
): Promise<OpenedWarehouse> {
  const { columns, runId, prefix, optional, onWarning = () => undefined } = options;
  const { kind } = target;
  const schema = tableSchema(kind, { inputColumns: columns, prefix, optional });
  const readers = cellReaders(schema, { runId, onWarning });
  const database = await connect(target, { ...options, access: "write", onWarning });
  try {
    const state = await database.transaction(async (session) => {
      const table = await prepareTable(kind, session, target.table, schema);
      const run = new RunRows(kind, table, { runId, prefix });
      await session.lock(`run ${runId}`);
      if (kind === "duckdb" && options.resume !== null) await run.removeFiller(session.query);
      const rows = await run.count(session.query);
      return { table, run, rows, note: await run.note(session.query) };
    });
    const { rows, note } = state;
    checkResume(target, options, state);
    const sink = new TableSink({ database, target, schema, readers, runId, ...state });
    return { sink, note, rows, audit: () => sink.audit() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Checks that a table contains what an interrupted run wrote. The state folder's checkpoint may be
 * older than the database's, never newer.
 */
function checkResume(
  { display }: TableTarget,
  { resume }: WarehouseOptions,
  { rows, note }: { readonly rows: number; readonly note: string | null },
): void {
  const expected = resume?.rows ?? 0;
  if (rows === expected || (note !== null && rows > expected)) return;
  throw new FatalError(
    "output_table_differs",
    `${display} holds ${rows} rows of the interrupted run, but its checkpoint says ${expected}`,
    { hint: startOver },
  );
}

/**
 * Deletes the rows of an unfinished run. A finished run has no note and keeps its rows, unless it
 * is known to have stopped early.
 * @throws ReputeError
 */
export async function discardRows<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  unfinished: UnfinishedRun,
): Promise<void> {
  await inTable(connect, target, "write", async (session, table) => {
    const notes = await session.find({ ...table, name: checkpointTableName });
    if (notes === null) return;
    const run = new RunRows(target.kind, table, unfinished);
    await session.lock(`run ${unfinished.runId}`);
    if (unfinished.complete !== true && (await run.note(session.query)) === null) return;
    await run.removeRows(session.query);
    await run.removeNote(session.query);
  });
}

/**
 * Counts the rows of a finished run.
 * @throws FatalError `output_missing`, `output_corrupt`; errors of the database
 */
export async function recountRows<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  run: RunIdentity,
): Promise<WarehouseAudit> {
  const { kind, display } = target;
  const audit = await inTable(connect, target, "read", ({ query }, table) =>
    new RunRows(kind, table, run).audit(query, display),
  );
  if (audit === null) throw new FatalError("output_missing", `table ${display} not found`);
  return audit;
}

/** Runs `work` on a table in one transaction; null if the table doesn't exist. */
async function inTable<T extends TableTarget, R>(
  connect: Connect<T>,
  target: T,
  access: ConnectOptions["access"],
  work: (session: TableSession, table: TableName) => Promise<R>,
): Promise<R | null> {
  if (target.file !== null && !existsSync(target.file)) return null;
  const database = await connect(target, { access, onWarning: () => undefined });
  try {
    return await database.transaction(async (session) => {
      const found = await session.find(target.table);
      return found && work(session, { ...target.table, schema: found.schema });
    });
  } finally {
    await database.close();
  }
}
