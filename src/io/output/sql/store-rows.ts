import { startOver } from "../../../core/remedies.js";
import { FatalError } from "../../../core/errors.js";
import { type Dialect, quoteIdentifier, quoteTable, type TableName } from "./dialect.js";
import type { TableSchema } from "../typed/table-schema.js";
import type { StagedRow } from "../stage.js";
import type { ColumnBatch } from "../row-cells.js";
import { countRun } from "./read.js";
import type { Batches, TableSession } from "./table-database.js";

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
export async function storeRows(
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
export function hasKey(
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
