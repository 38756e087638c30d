import { type Clock, systemClock } from "../../../core/clock.js";
import { FatalError, UsageError, startOver } from "../../../core/errors.js";
import { columnTypes } from "../../formats/column-types.js";
import { writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import type { Stage, StagedRow } from "../stage.js";
import type { Manifest } from "../../../core/manifest.js";
import { type Dialect, quoteIdentifier, quoteTable, type TableName } from "./dialect.js";
import { prepareTable } from "./prepare-table.js";
import { type BatchBounds, cellsEncoder, ColumnBatch, loadedRows } from "../row-cells.js";
import { dataOf, lastRunRows, prepareRuns, recordRun, tableData } from "./run-records.js";
import {
  mixedData,
  otherTable,
  type Publication,
  type PublicationOptions,
} from "../publication.js";
import type { TableMode } from "../options.js";
import { countAll, countRun } from "./read.js";
import {
  type Connect,
  type TableSession,
  type TableTarget,
  withDatabase,
  type Batches,
} from "./table-database.js";
import {
  stagedColumns,
  type TableColumn,
  type TableSchema,
  tableSchema,
  textWarnings,
} from "../typed/table-schema.js";
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

interface RowsToStore {
  readonly table: TableName;
  readonly schema: TableSchema;
  readonly batches: Batches;
}

interface RunToStore {
  readonly runId: string;
  /** Number of its rows. */
  readonly count: number;
  /** Whether its rows are still staged. Once cleaned up, they are in the table and nowhere else. */
  readonly isStaged: boolean;
  /** Name of the table in messages. */
  readonly name: string;
}

/**
 * Stores the rows of a run as the mode of the table says. May be repeated.
 *
 * @param run null stores none, which shows whether rows may be stored
 */
async function storeRows(
  session: TableSession,
  rows: RowsToStore,
  run: RunToStore | null,
): Promise<void> {
  const { mode } = rows.schema;
  if (mode === "merge") return mergeRows(session, rows);
  if (mode === "replace" && run?.isStaged !== false) {
    await removeOthers(session, rows, run?.runId ?? null);
  }
  if (run === null) await insertRows(session, { ...rows, mayExist: true });
  else await addRows(session, rows, run);
}

/** Adds the rows of a run that are not there yet, and checks that all of them are. */
async function addRows(
  session: TableSession,
  rows: RowsToStore,
  { runId, count, name }: RunToStore,
): Promise<void> {
  const { prefix } = rows.schema;
  const stored = () => countRun(session, rows.table, { runId, prefix });
  await insertRows(session, { ...rows, mayExist: (await stored()) > 0 });
  const found = await stored();
  if (found === count) return;
  if (found > count) {
    throw new FatalError(
      "output_table_differs",
      `${name} holds ${found} rows of this run, which has ${count}`,
      { hint: startOver },
    );
  }
  throw new FatalError("rows_lost", `${name} stored ${found} of ${count} rows`, {
    hint: "check the table for triggers or rules that drop rows, then continue with --resume",
  });
}

/**
 * Adds rows.
 *
 * @param mayExist some may be there, and stay as they are. DuckDB keeps the order of rows only
 *   without this
 */
async function insertRows(
  session: TableSession,
  { table, schema: { columns, key }, batches, mayExist }: RowsToStore & { mayExist: boolean },
): Promise<void> {
  if (!mayExist && (await session.append?.(table, columns, batches)) === true) return;
  const { list, names, to } = quoting(session.dialect, table, columns);
  const from = quoteTable(session.dialect, await session.loadTemporary(columns, batches));
  const insert = `INSERT INTO ${to} (${names}) SELECT ${names} FROM ${from}`;
  await session.query(mayExist ? session.dialect.keepStored(insert, list(key)) : insert);
  await session.query(`DROP TABLE ${from}`);
}

/** Rows that are merged at once. More of them need much memory in DuckDB. */
const mergedRows = 20_480;

/**
 * Keeps one row per key, the newest: that with the latest answer, then of the latest run. A failed row
 * replaces only failed ones.
 *
 * @param rows all with a key
 */
async function mergeRows(session: TableSession, rows: RowsToStore): Promise<void> {
  const { dialect } = session;
  const merge = mergeStatements(dialect, rows);
  for (const setting of dialect.mergeSettings) await session.query(setting);
  const { columns } = rows.schema;
  let waiting: ColumnBatch[] = [];
  const mergeWaiting = async (): Promise<void> => {
    const from = quoteTable(dialect, await session.loadTemporary(columns, waiting));
    waiting = [];
    for (const statement of merge(from)) await session.query(statement);
    await session.query(`DROP TABLE ${from}`);
  };
  for await (const batch of rows.batches) {
    waiting.push(batch);
    if (waiting.reduce((sum, each) => sum + each.rows, 0) >= mergedRows) await mergeWaiting();
  }
  // Without rows, shows whether it may.
  await mergeWaiting();
}

function mergeStatements(dialect: Dialect, { table, schema }: RowsToStore) {
  const { columns, key, rowKey, prefix } = schema;
  const { list, names, to } = quoting(dialect, table, columns);
  const quoted = (name: string): string => quoteIdentifier(dialect, name);
  const [status, answered] = [`${prefix}status`, `${prefix}looked_up_at`];
  const hasTime = columns.some(({ name }) => name === answered);
  const age = (of: string): string => {
    const answers = `${of}.${quoted(status)} <> 'failed'`;
    const time = hasTime ? [`coalesce(${of}.${quoted(answered)}, ${dialect.earliest})`] : [];
    const run = rowKey.map((name) => `${of}.${quoted(name)}`);
    return `(${[answers, ...time, ...run].join(", ")})`;
  };
  const order = [
    `${quoted(status)} = 'failed'`,
    ...(hasTime ? [`${quoted(answered)} DESC NULLS LAST`] : []),
    ...rowKey.map((name) => `${quoted(name)} DESC`),
  ];
  return (from: string): readonly string[] => {
    const insert = `INSERT INTO ${to} AS t (${names}) SELECT ${names} FROM (
       SELECT *, row_number() OVER (PARTITION BY ${list(key)} ORDER BY ${order.join(", ")}) AS repute_newest
       FROM ${from}
     ) AS newest WHERE repute_newest = 1`;
    const all = columns.map(({ name }) => quoted(name));
    return dialect.merge({ to, from, insert, key: key.map(quoted), columns: all, age });
  };
}

/**
 * Removes the rows of other runs. Unlike TRUNCATE this lets others read them meanwhile.
 *
 * @param runId null removes nothing, which shows whether it may
 */
async function removeOthers(
  { dialect, query }: TableSession,
  { table, schema }: RowsToStore,
  runId: string | null,
): Promise<void> {
  const run = quoteIdentifier(dialect, schema.rowKey[0]);
  await query(`DELETE FROM ${quoteTable(dialect, table)} WHERE ${run} <> ${dialect.parameter(1)}`, [
    runId,
  ]);
}

/** Returns a function that tells whether a staged row has a key that can be stored. */
function hasKey(
  { maxKeyBytes }: Dialect,
  { columns, key }: TableSchema,
): (row: StagedRow) => boolean {
  const indexes = key.map((wanted) => columns.findIndex(({ name }) => name === wanted));
  return (row) => {
    let bytes = 0;
    for (const index of indexes) {
      const cell = row[index] ?? null;
      if (cell === null) return false;
      bytes += Buffer.byteLength(String(cell));
    }
    return bytes <= maxKeyBytes;
  };
}

function quoting(dialect: Dialect, table: TableName, columns: TableSchema["columns"]) {
  const list = (names: readonly string[]): string =>
    names.map((name) => quoteIdentifier(dialect, name)).join(", ");
  return { list, names: list(columns.map(({ name }) => name)), to: quoteTable(dialect, table) };
}
