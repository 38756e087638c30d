import { RunRows, mustMatch, tableMissing } from "../warehouse/run-rows.js";
import type { Clock } from "../../core/clock.js";
import { systemClock } from "../../core/clock.js";
import { cellReaders } from "../warehouse/cell-values.js";
import { checkpointTableName, quoteIdentifier, quoteTable } from "../warehouse/dialect.js";
import { tableSchema } from "../warehouse/table-schema.js";
import type { PostgresTarget } from "../warehouse/target.js";
import type {
  OpenedWarehouse,
  UnfinishedRun,
  WarehouseAudit,
  WarehouseOptions,
  WarehouseRun,
} from "../warehouse/types.js";
import { BinaryCopy } from "./binary-copy.js";
import { Connection } from "./connection.js";
import type { ConnectionOptions } from "./connection.js";
import { findTable, prepareTable } from "./enriched-table.js";
import { PostgresSink } from "./postgres-sink.js";

/** What waiting for a lost server depends on. */
export interface Patience {
  readonly clock?: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Aborting it ends the waiting for a server that is gone. */
  readonly signal?: AbortSignal;
}

/**
 * Opens a table of a PostgreSQL database as output; a missing table is created, with a view of the
 * newest row of each item.
 *
 * @throws UsageError `driver_missing`, `column_clash`, `database_*`, `schema_missing`, `table_*`,
 * `not_a_table`; FatalError `database_*`, `output_table_differs`
 */
export async function openPostgres(
  target: PostgresTarget,
  options: WarehouseOptions & Patience,
): Promise<OpenedWarehouse> {
  const { runId, prefix, columns, resume } = options;
  const { display } = target;
  const onWarning = options.onWarning ?? (() => undefined);
  const schema = tableSchema("postgres", { inputColumns: columns, prefix });
  const readers = cellReaders(schema, { runId, onWarning });
  const batch = new BinaryCopy(
    schema.columns.map(({ type }) => type),
    readers,
  );
  const [connection, { table, run, note, rows }] = await Connection.open(
    connectionOptions(target, options),
    async (session) => {
      const table = await prepareTable(session, target.table, schema);
      const run = new RunRows("postgres", table, { runId, prefix });
      await session.lockRun(runId);
      const rows = await run.count(session.query);
      return { table, run, rows, note: await run.note(session.query) };
    },
  );
  try {
    mustMatch(display, resume, { rows, note });
  } catch (error) {
    await connection.end();
    throw error;
  }
  const names = schema.columns.map(({ name }) => quoteIdentifier("postgres", name)).join(", ");
  const copyStatement = `COPY ${quoteTable("postgres", table)} (${names}) FROM STDIN (FORMAT binary)`;
  const sink = new PostgresSink({ connection, runId, run, batch, copyStatement, display, rows });
  return { sink, note, rows, audit: () => sink.audit() };
}

/**
 * Takes the rows of an unfinished run out again. A run that is finished has no note and stays,
 * unless it is known to have ended before its end.
 *
 * @throws UsageError `driver_missing`, `database_*`; FatalError `database_*`
 */
export async function discardFromPostgres(
  target: PostgresTarget,
  unfinished: UnfinishedRun,
  patience: Patience = {},
): Promise<void> {
  const [connection] = await Connection.open(
    connectionOptions(target, patience),
    async (session) => {
      const found = await findTable(session, target.table);
      if (found === null) return;
      const table = { ...target.table, schema: found.schema };
      const notes = await findTable(session, { ...table, name: checkpointTableName });
      if (notes === null) return;
      const run = new RunRows("postgres", table, unfinished);
      await session.lockRun(unfinished.runId);
      if (unfinished.complete !== true && (await run.note(session.query)) === null) return;
      await run.removeRows(session.query);
      await run.removeNote(session.query);
    },
  );
  await connection.end();
}

/**
 * Counts what is there of a finished run.
 *
 * @throws UsageError `driver_missing`, `database_*`; FatalError `database_*`, `output_*`
 */
export async function recountPostgres(
  target: PostgresTarget,
  run: WarehouseRun,
  patience: Patience = {},
): Promise<WarehouseAudit> {
  const [connection, audit] = await Connection.open(
    connectionOptions(target, patience),
    async (session) => {
      const found = await findTable(session, target.table);
      if (found === null) return null;
      const table = { ...target.table, schema: found.schema };
      return new RunRows("postgres", table, run).audit(session.query, target.display);
    },
  );
  await connection.end();
  if (audit === null) throw tableMissing(target.display);
  return audit;
}

function connectionOptions(
  { url, display }: PostgresTarget,
  options: Patience & Pick<WarehouseOptions, "onWarning">,
): ConnectionOptions {
  return {
    url,
    display,
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    signal: options.signal ?? new AbortController().signal,
    onWarning: options.onWarning ?? (() => undefined),
  };
}
