import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { type Clock, systemClock } from "../../core/clock.js";
import { renamePart } from "../file-destination.js";
import type { Stage, StagedRow } from "../stage.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { type BatchBounds, ColumnBatch } from "../warehouse/column-batch.js";
import type { DialectName } from "../sql/dialect.js";
import { prepareTable } from "../warehouse/prepare-table.js";
import { cellsEncoder, loadedRows } from "../warehouse/row-cells.js";
import { prepareRuns, recordRun } from "../warehouse/run-records.js";
import type { TableMode } from "../table-mode.js";
import { countAll, countRun } from "../warehouse/saved-rows.js";
import { type Connect, type TableSession, withDatabase } from "../warehouse/table-database.js";
import type { TableTarget } from "../warehouse/target.js";
import {
  stagedColumns,
  type TableColumn,
  type TableSchema,
  tableSchema,
  textWarnings,
} from "../sql/table-schema.js";
import { keepFailed } from "./keep-failed.js";
import { countStaged } from "./rows.js";
import { hasKey, insertRows, mergeRows, removeOthers, type RowsToStore } from "./store-rows.js";
import type { Publication, PublicationOptions } from "../publication.js";
import type { Audit } from "../types.js";

/**
 * Prepares to publish rows in a table, all of them in one transaction. A missing table is created
 * with them. The rows of a run with too many failures become a file beside its state.
 */
export async function publishTable(
  connect: Connect,
  target: TableTarget,
  options: PublicationOptions,
): Promise<Publication> {
  const { mode } = options;
  const writing = { ...options, access: "write" } as const;
  const wanted = tableSchema(target.kind, options);
  const schema = await checkTablePlace(connect, target, wanted, options);
  const failedPath = (suffix: string): string => `${options.base}${suffix}.ndjson`;
  return {
    columns: stagedColumns(schema.columns),
    warnings: textWarnings(target.kind, options),
    encoder: cellsEncoder(schema, options),
    // Only a whole run replaces the rows of others.
    takesParts: mode !== "replace",
    ...(mode === "replace" && { earlierRows: () => countAll(connect, target, writing) }),
    prepare: (stage, suffix) =>
      suffix === ""
        ? countedTable(stage, schema, target.kind, mode)
        : keepFailed(stage, schema, failedPath(suffix)),
    async commit(stage, suffix, manifest = null) {
      if (suffix !== "") return renamePart(failedPath(suffix));
      await withDatabase(connect, writing, async (database) => {
        await database.transaction((session) =>
          load(session, target, schema, options, { stage, manifest }),
        );
        await database.settle?.();
      });
    },
  };
}

/**
 * Checks before the first request what would otherwise fail after the last: rights, columns, names.
 *
 * @returns the schema, as far as the table has it
 */
async function checkTablePlace(
  connect: Connect,
  target: TableTarget,
  wanted: TableSchema,
  options: PublicationOptions,
): Promise<TableSchema> {
  const { kind } = target;
  return withDatabase(connect, { ...options, access: "check" }, (database) =>
    database.transaction(async (session) => {
      const { table, schema } = await prepareTable(kind, session, target.table, wanted);
      await prepareRuns(kind, session, table);
      const none = { table, schema, batches: [] };
      if (options.mode === "merge") await mergeRows(session, kind, none);
      else await insertRows(session, kind, { ...none, mayExist: true });
      if (options.mode === "replace") await removeOthers(session, kind, none, null);
      return schema;
    }, "ROLLBACK"),
  );
}

/** Size of a batch. DuckDB's vectors hold 2,048 rows. */
const batchBounds: BatchBounds = { rows: 2_048, characters: 8 * 1024 * 1024 };

interface BatchOptions {
  readonly columns: readonly TableColumn[];
  readonly clock?: Clock | undefined;
  readonly bounds?: BatchBounds;
  readonly takes?: (row: StagedRow) => boolean;
}

export async function* stagedBatches(
  stage: Stage,
  { columns, clock, bounds = batchBounds, takes }: BatchOptions,
): AsyncGenerator<ColumnBatch> {
  const width = columns.length;
  let batch = new ColumnBatch(width, bounds);
  for await (const rows of loadedRows(stage, columns, clock)) {
    for (const row of rows) {
      if (takes?.(row) === false) continue;
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
  wanted: TableSchema,
  options: PublicationOptions,
  { stage, manifest }: { readonly stage: Stage; readonly manifest: Manifest | null },
): Promise<void> {
  const { kind } = target;
  const { runId, mode = "append", clock = systemClock } = options;
  const { table, schema } = await prepareTable(kind, session, target.table, wanted);
  const runs = await prepareRuns(kind, session, table);
  await session.lock?.(`run ${runId}`);
  if (mode !== "append") await session.lockTable?.(table);
  const takes = mode === "merge" ? hasKey(kind, schema) : undefined;
  const { columns } = schema;
  const batches = stage.exists
    ? stagedBatches(stage, { columns, clock, ...(takes && { takes }) })
    : [];
  const rows = { table, schema, batches };
  if (mode === "merge") await mergeRows(session, kind, rows);
  else {
    // Once cleaned up, a run that is published again has its rows here and nowhere else.
    if (mode === "replace" && stage.exists) await removeOthers(session, kind, rows, runId);
    await addRows(session, target, rows, { runId, count: stage.count });
  }
  if (manifest !== null) await recordRun(session, kind, runs, { manifest, now: clock.now() });
}

/** Adds the rows of a run that are not there yet, and checks that all of them are. */
async function addRows(
  session: TableSession,
  { kind, display }: TableTarget,
  rows: RowsToStore,
  { runId, count }: { readonly runId: string; readonly count: number },
): Promise<void> {
  const { prefix } = rows.schema;
  const stored = () => countRun(session, kind, rows.table, { runId, prefix });
  await insertRows(session, kind, { ...rows, mayExist: (await stored()) > 0 });
  const found = await stored();
  if (found === count) return;
  if (found > count) {
    throw new FatalError(
      "output_table_differs",
      `${display} holds ${found} rows of this run, which has ${count}`,
      { hint: startOver },
    );
  }
  throw new FatalError("rows_lost", `${display} stored ${found} of ${count} rows`, {
    hint: "check the table for triggers or rules that drop rows, then continue with --resume",
  });
}

async function countedTable(
  stage: Stage,
  schema: TableSchema,
  kind: DialectName,
  mode: TableMode | undefined,
): Promise<Audit> {
  const counts = { bytes: null, sha256: null, ...(await countStaged(stage, schema)) };
  if (mode !== "merge") return counts;
  const takes = hasKey(kind, schema);
  let withoutKey = 0;
  for await (const rows of loadedRows(stage, schema.columns)) {
    withoutKey += rows.filter((row) => !takes(row)).length;
  }
  return { ...counts, withoutKey };
}
