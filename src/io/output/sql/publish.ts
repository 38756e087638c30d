import { type Clock, systemClock } from "../../../core/clock.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { columnTypes } from "../../formats/column-types.js";
import { writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import type { Stage, StagedRow } from "../stage.js";
import type { Manifest } from "../../../core/manifest/manifest.js";
import type { Dialect } from "./dialect.js";
import { prepareTable } from "./prepare-table.js";
import { type BatchBounds, cellsEncoder, ColumnBatch, loadedRows } from "../row-cells.js";
import {
  dataOf,
  lastRunRows,
  mixedData,
  otherTable,
  prepareRuns,
  recordRun,
  tableData,
} from "./run-records.js";
import type { TableMode } from "../options.js";
import { countAll } from "./read.js";
import {
  type Connect,
  type TableSession,
  type TableTarget,
  withDatabase,
} from "./table-database.js";
import {
  stagedColumns,
  type TableColumn,
  type TableSchema,
  tableSchema,
  textWarnings,
} from "../typed/table-schema.js";
import { hasKey, storeRows } from "./store-rows.js";
import type { Publication, PublicationOptions } from "../publication.js";
import type { WrittenOutput } from "../types.js";

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
  const wanted = tableSchema(target.dialect.rules, options);
  const { schema, earlierRows, holds } = await checkTablePlace(connect, target, wanted, options);
  const failedPath = (suffix: string): string => `${options.base}${suffix}.ndjson`;
  return {
    columns: stagedColumns(schema.columns),
    warnings: textWarnings(target.dialect.rules, options),
    encoder: cellsEncoder(schema, options),
    // Only a whole run replaces the rows of others.
    takesParts: mode !== "replace",
    earlierRows,
    holds,
    prepare: (stage, suffix) =>
      suffix === ""
        ? countedTable(stage, schema, target.dialect, mode)
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
 * @returns the schema, as far as the table has it, and the rows of the run before
 */
async function checkTablePlace(
  connect: Connect,
  target: TableTarget,
  wanted: TableSchema,
  options: PublicationOptions,
): Promise<{ readonly schema: TableSchema } & Pick<Publication, "earlierRows" | "holds">> {
  return withDatabase(connect, { ...options, access: "check" }, (database) =>
    database.transaction(async (session) => {
      const { table, schema } = await prepareTable(session, target.table, wanted);
      const runs = await prepareRuns(session, table);
      await storeRows(session, { table, schema, batches: [] }, null);
      const earlierRows =
        (await lastRunRows(session, runs)) ??
        (schema.mode === "replace" ? await countAll(session, table) : null);
      const holds = await tableData(session, runs);
      if (holds === "real" && options.madeUp !== undefined) {
        throw new UsageError("made_up_rows", mixedData(target.name, holds), {
          hint: otherTable,
        });
      }
      return { schema, earlierRows, holds };
    }, "ROLLBACK"),
  );
}

/** Size of a batch. DuckDB's vectors hold 2,048 rows. */
const batchBounds: BatchBounds = { rows: 2_048, characters: 8 * 1024 * 1024 };

interface BatchOptions {
  readonly columns: readonly TableColumn[];
  readonly clock?: Clock | undefined;
  readonly takes?: (row: StagedRow) => boolean;
}

async function* stagedBatches(
  stage: Stage,
  { columns, clock, takes }: BatchOptions,
): AsyncGenerator<ColumnBatch> {
  const width = columns.length;
  let batch = new ColumnBatch(width, batchBounds);
  for await (const rows of loadedRows(stage, columns, clock)) {
    for (const row of rows) {
      if (takes?.(row) === false) continue;
      batch.add(row);
      if (!batch.full) continue;
      yield batch;
      batch = new ColumnBatch(width, batchBounds);
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
  const { dialect, name } = target;
  const { runId, mode = "append", clock = systemClock } = options;
  const { table, schema } = await prepareTable(session, target.table, wanted);
  const runs = await prepareRuns(session, table);
  await session.lock?.(`run ${runId}`);
  if (mode !== "append") await session.lockTable?.(table);
  const [holds, ours] = [await tableData(session, runs), manifest && dataOf(manifest)];
  if (holds !== null && ours !== null && holds !== ours) {
    throw new FatalError("made_up_rows", mixedData(name, holds), { hint: otherTable });
  }
  const takes = mode === "merge" ? hasKey(dialect, schema) : undefined;
  const { columns } = schema;
  const isStaged = stage.exists;
  const batches = isStaged ? stagedBatches(stage, { columns, clock, ...(takes && { takes }) }) : [];
  const run = { runId, count: stage.count, isStaged, name };
  await storeRows(session, { table, schema, batches }, run);
  if (manifest !== null) await recordRun(session, runs, { manifest, now: clock.now() });
}

async function countedTable(
  stage: Stage,
  schema: TableSchema,
  dialect: Dialect,
  mode: TableMode | undefined,
): Promise<WrittenOutput> {
  const counts = { bytes: null, sha256: null, rows: stage.count };
  if (mode !== "merge") {
    await stage.verify();
    return counts;
  }
  const takes = hasKey(dialect, schema);
  let withoutKey = 0;
  for await (const rows of loadedRows(stage, schema.columns)) {
    withoutKey += rows.filter((row) => !takes(row)).length;
  }
  return { ...counts, withoutKey };
}

/**
 * Writes the rows of a run with too many failures, which its table does not take, as flat NDJSON.
 */
async function keepFailed(
  stage: Stage,
  { columns: published }: TableSchema,
  path: string,
): Promise<WrittenOutput> {
  const columns = stagedColumns(published);
  // Run and number are not columns of text.
  const kept = columns.map(({ from }) => from.kind === "input" || from.kind === "added");
  let count = 0;
  const written = await writePart(path, async (file) => {
    for await (const rows of stage.rows()) {
      count += rows.length;
      const lines = rows.map((row) => {
        const members = columns.flatMap(({ name, type }, index) => {
          const cell = row[index] ?? null;
          const value = cell === null ? null : columnTypes[type].toValue(cell);
          return kept[index] === true ? [[name, value] as const] : [];
        });
        return `${JSON.stringify(Object.fromEntries(members))}\n`;
      });
      await file.write(Buffer.from(lines.join("")));
    }
  });
  return { ...written, rows: count };
}
