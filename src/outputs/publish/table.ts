import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { type Clock, systemClock } from "../../core/clock.js";
import { renamePart } from "../file-destination.js";
import type { Stage } from "../stage.js";
import { type BatchBounds, ColumnBatch } from "../warehouse/column-batch.js";
import {
  type DialectName,
  quoteIdentifier,
  quoteTable,
  type TableName,
} from "../warehouse/dialect.js";
import { prepareTable } from "../warehouse/prepare-table.js";
import { countRun } from "../warehouse/count-run.js";
import type {
  Batches,
  Connect,
  ConnectOptions,
  TableDatabase,
  TableSession,
  TableTarget,
} from "../warehouse/table-database.js";
import { type TableSchema, tableSchema } from "../warehouse/table-schema.js";
import { keepFailed } from "./keep-failed.js";
import { cellsEncoder } from "./parquet.js";
import { countStaged } from "./rows.js";
import type { Publication, PublicationOptions } from "../publication.js";
import type { Audit } from "../types.js";

/**
 * Prepares to publish rows in a table, all of them in one transaction. A missing table is created
 * with them. The rows of a run with too many failures become a file beside its state.
 *
 * @throws UsageError `driver_missing`, `column_clash`, `schema_missing`, `table_*`, `not_a_table`;
 *   errors of the database
 */
export async function publishTable<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: PublicationOptions,
): Promise<Publication> {
  const { columns, prefix, optional } = options;
  const schema = tableSchema(target.kind, { inputColumns: columns, prefix, optional });
  await checkTablePlace(connect, target, schema, options);
  const failedPath = (suffix: string): string => `${options.base}${suffix}.ndjson`;
  return {
    columns: schema.columns,
    encoder: cellsEncoder(schema, options),
    takesParts: true,
    prepare: (stage, suffix) =>
      suffix === "" ? countedTable(stage, schema) : keepFailed(stage, schema, failedPath(suffix)),
    async commit(stage, suffix) {
      if (suffix !== "") return renamePart(failedPath(suffix));
      const database = await openPatiently(connect, target, options);
      try {
        await database.transaction((session) => load(session, target, schema, options, stage));
        await database.settle?.();
      } finally {
        await database.close();
      }
    },
  };
}

/** Checks before the first request what would otherwise fail after the last: rights, columns, names. */
async function checkTablePlace<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  schema: TableSchema,
  options: PublicationOptions,
): Promise<void> {
  const { kind } = target;
  const database = await openPatiently(connect, target, options, "check");
  try {
    await database.transaction(async (session) => {
      const table = await prepareTable(kind, session, target.table, schema);
      await insertRows(session, kind, { table, schema, batches: [], mayExist: true });
    }, "ROLLBACK");
  } finally {
    await database.close();
  }
}

export function connecting(
  { signal, clock, onWarning = () => undefined }: PublicationOptions,
  access: ConnectOptions["access"],
): ConnectOptions {
  return { access, onWarning, ...(signal && { signal }), ...(clock && { clock }) };
}

/**
 * How often to try, a second apart, to open a file that another program has open: less often at the
 * start of a run, where a person may be waiting.
 */
const attempts = { check: 10, write: 60 };

/** Opens a database whose file another run may be publishing to. */
export async function openPatiently<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: PublicationOptions,
  access: keyof typeof attempts = "write",
): Promise<TableDatabase> {
  const { clock = systemClock, signal }: { clock?: Clock; signal?: AbortSignal } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(target, connecting(options, access));
    } catch (error) {
      const isLocked = error instanceof FatalError && error.code === "output_locked";
      if (!isLocked || attempt === attempts[access]) throw error;
    }
    await clock.sleep(1_000, signal);
  }
}

/** Size of a batch. DuckDB's vectors hold 2,048 rows. */
const batchBounds: BatchBounds = { rows: 2_048, characters: 8 * 1024 * 1024 };

/** The staged rows as columns. */
export async function* stagedBatches(
  stage: Stage,
  width: number,
  bounds = batchBounds,
): AsyncGenerator<ColumnBatch> {
  let batch = new ColumnBatch(width, bounds);
  for await (const rows of stage.rows()) {
    for (const row of rows) {
      batch.add(row);
      if (!batch.full) continue;
      yield batch;
      batch = new ColumnBatch(width, bounds);
    }
  }
  if (batch.rows > 0) yield batch;
}

async function load(
  session: TableSession,
  target: TableTarget,
  schema: TableSchema,
  { runId, prefix }: PublicationOptions,
  stage: Stage,
): Promise<void> {
  const { kind, display } = target;
  const table = await prepareTable(kind, session, target.table, schema);
  await session.lock(`run ${runId}`);
  const count = () => countRun(session, kind, table, { runId, prefix });
  const mayExist = (await count()) > 0;
  if (stage.exists) {
    const batches = stagedBatches(stage, schema.columns.length);
    await insertRows(session, kind, { table, schema, batches, mayExist });
  }
  const stored = await count();
  if (stored === stage.count) return;
  if (stored > stage.count) {
    throw new FatalError(
      "output_table_differs",
      `${display} holds ${stored} rows of this run, which has ${stage.count}`,
      { hint: startOver },
    );
  }
  throw new FatalError("rows_lost", `${display} stored ${stored} of ${stage.count} rows`, {
    hint: "check the table for triggers or rules that drop rows, then continue with --resume",
  });
}

interface RowsToInsert {
  readonly table: TableName;
  readonly schema: TableSchema;
  readonly batches: Batches;
  /** Some may be there, and stay as they are. DuckDB keeps the order of rows only without this. */
  readonly mayExist: boolean;
}

async function insertRows(
  session: TableSession,
  kind: DialectName,
  { table, schema: { columns, key }, batches, mayExist }: RowsToInsert,
): Promise<void> {
  if (!mayExist && (await session.append?.(table, columns, batches)) === true) return;
  const list = (names: readonly string[]): string =>
    names.map((name) => quoteIdentifier(kind, name)).join(", ");
  const names = list(columns.map(({ name }) => name));
  const from = quoteTable(kind, await session.loadTemporary(columns, batches));
  const insert = `INSERT INTO ${quoteTable(kind, table)} (${names}) SELECT ${names} FROM ${from}`;
  await session.query(mayExist ? `${insert} ON CONFLICT (${list(key)}) DO NOTHING` : insert);
  await session.query(`DROP TABLE ${from}`);
}

async function countedTable(stage: Stage, schema: TableSchema): Promise<Audit> {
  return { bytes: null, sha256: null, ...(await countStaged(stage, schema)) };
}
