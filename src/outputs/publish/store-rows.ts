import { type DialectName, quoteIdentifier, quoteTable, type TableName } from "../sql/dialect.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import type { Batches, TableSession } from "../warehouse/table-database.js";
import type { TableSchema } from "../sql/table-schema.js";
import type { StagedRow } from "../stage.js";

export interface RowsToStore {
  readonly table: TableName;
  readonly schema: TableSchema;
  readonly batches: Batches;
}

/**
 * Adds rows.
 *
 * @param mayExist some may be there, and stay as they are. DuckDB keeps the order of rows only
 *   without this
 */
export async function insertRows(
  session: TableSession,
  kind: DialectName,
  { table, schema: { columns, key }, batches, mayExist }: RowsToStore & { mayExist: boolean },
): Promise<void> {
  if (!mayExist && (await session.append?.(table, columns, batches)) === true) return;
  const { list, names, to } = quoting(kind, table, columns);
  const from = quoteTable(kind, await session.loadTemporary(columns, batches));
  const insert = `INSERT INTO ${to} (${names}) SELECT ${names} FROM ${from}`;
  await session.query(mayExist ? `${insert} ON CONFLICT (${list(key)}) DO NOTHING` : insert);
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
export async function mergeRows(
  session: TableSession,
  kind: DialectName,
  rows: RowsToStore,
): Promise<void> {
  const merge = mergeStatements(kind, rows);
  // A merge touches the whole index of the key, which DuckDB keeps in memory.
  if (kind === "duckdb") await session.query("SET memory_limit = '2GB'");
  const { columns } = rows.schema;
  let waiting: ColumnBatch[] = [];
  const mergeWaiting = async (): Promise<void> => {
    const from = quoteTable(kind, await session.loadTemporary(columns, waiting));
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

function mergeStatements(kind: DialectName, { table, schema }: RowsToStore) {
  const { columns, key, rowKey, prefix } = schema;
  const { list, names, to } = quoting(kind, table, columns);
  const quoted = (name: string): string => quoteIdentifier(kind, name);
  const [status, answered] = [`${prefix}status`, `${prefix}looked_up_at`];
  const hasTime = columns.some(({ name }) => name === answered);
  const age = (of: string): string => {
    const answers = `${of}.${quoted(status)} <> 'failed'`;
    const time = hasTime ? [`coalesce(${of}.${quoted(answered)}, '-infinity')`] : [];
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
     ) AS newest WHERE repute_newest = 1 ON CONFLICT (${list(key)})`;
    if (kind === "duckdb") {
      // An update takes DuckDB twice the time and memory of these.
      const same = key.map((name) => `t.${quoted(name)} = f.${quoted(name)}`).join(" AND ");
      return [
        `DELETE FROM ${to} AS t USING ${from} AS f WHERE ${same} AND ${age("f")} > ${age("t")}`,
        `${insert} DO NOTHING`,
      ];
    }
    const changes = columns
      .filter(({ name }) => !key.includes(name))
      .map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`);
    return [`${insert} DO UPDATE SET ${changes.join(", ")} WHERE ${age("excluded")} > ${age("t")}`];
  };
}

/**
 * Removes the rows of other runs. Unlike TRUNCATE this lets others read them meanwhile.
 *
 * @param runId null removes nothing, which shows whether it may
 */
export async function removeOthers(
  session: TableSession,
  kind: DialectName,
  { table, schema }: Pick<RowsToStore, "table" | "schema">,
  runId: string | null,
): Promise<void> {
  const run = quoteIdentifier(kind, schema.rowKey[0]);
  await session.query(`DELETE FROM ${quoteTable(kind, table)} WHERE ${run} <> $1`, [runId]);
}

/**
 * Bytes of a key that surely fit into an entry of PostgreSQL's index, which has at most 2,704
 * (manual, section 64.1.4).
 */
const maxKeyBytes = 2_600;

/** Returns a function that tells whether a staged row has a key that can be stored. */
export function hasKey(
  kind: DialectName,
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
    return kind !== "postgres" || bytes <= maxKeyBytes;
  };
}

function quoting(kind: DialectName, table: TableName, columns: TableSchema["columns"]) {
  const list = (names: readonly string[]): string =>
    names.map((name) => quoteIdentifier(kind, name)).join(", ");
  return { list, names: list(columns.map(({ name }) => name)), to: quoteTable(kind, table) };
}
