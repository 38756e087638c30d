import { systemClock } from "../../../core/clock.js";
import { FatalError, UsageError, startOver, continueRun } from "../../../core/errors.js";
import { columnTypes } from "../../formats/column-types.js";
import { renamePart, writePart } from "../part-file.js";
import { cellsEncoder, type Stage, type StagedCell } from "../stage.js";
import type { ColumnType, ColumnValue } from "../../../core/column.js";
import type { Manifest } from "../../../core/manifest.js";
import {
  type Dialect,
  type Query,
  quoteTable,
  type TableAddress,
  type TableName,
  type TableSession,
  tableText,
} from "./dialect.js";
import { earlierRuns, prepareRuns, prepareTable, recordRun } from "./prepare-table.js";
import {
  describer,
  mixedData,
  type Publisher,
  type PublisherOptions,
  type WrittenOutput,
} from "../publisher.js";
import { type TableSchema, tableSchema, textWarnings } from "../typed/table-schema.js";

/**
 * Publishes rows in a table, all of them in one transaction. A missing table is created with them. The
 * rows of a run with too many failures become a file beside its state.
 */
export function tablePublisher(address: TableAddress, options: PublisherOptions): Publisher {
  const { name, mode, clock = systemClock, madeUp, runId } = options;
  const { dialect } = address;
  const wanted = tableSchema(dialect.rules, options);
  // Only a whole run replaces the rows of others.
  const describe = describer(options, { format: dialect.name, takesParts: mode !== "replace" });
  return {
    describe,
    async check() {
      const none = { name, stage: null, at: clock.now(), runId };
      const { schema, holds, earlierRows } = await address.transact(
        { ...options, access: "check" },
        (session) => load(session, address.table, wanted, none),
      );
      if (holds === "real" && madeUp !== undefined) {
        throw mixedData(UsageError, name, holds);
      }
      const warnings = textWarnings(dialect.rules, options);
      return { holds, earlierRows, warnings, encoder: cellsEncoder(schema, options) };
    },
    async publish(stage, { suffix, at, manifest }) {
      if (suffix !== "") return keepFailed(stage, wanted, describe(suffix).base!);
      return address.transact({ ...options, access: "write" }, async (session) => {
        const own = { name, stage, at, runId };
        const { table, holds, withoutKey } = await load(session, address.table, wanted, own);
        const kept = withoutKey === null ? {} : { without_key: withoutKey };
        const stored = { bytes: null, sha256: null, rows: stage.count, ...kept };
        const record = manifest(stored);
        if (record !== null) await recordRun(session, table, record, { name, at, holds });
        return stored;
      });
    },
  };
}

/** Records what has become of a run since its rows were published. @param name of the table in messages */
export async function recordAgain(
  { table, transact }: TableAddress,
  name: string,
  manifest: Manifest,
): Promise<void> {
  const run = { name, at: Date.parse(manifest.ended_at), holds: null };
  await transact({ name, access: "write" }, (session) => recordRun(session, table, manifest, run));
}

/**
 * Loads the rows of a run as the mode of the table says. May be repeated.
 *
 * @param stage null for no rows, which shows whether rows may be stored
 * @param at time of publishing, in milliseconds; rows that a retry copies have theirs
 */
async function load(
  session: TableSession,
  place: TableName,
  wanted: TableSchema,
  { name, stage, at, runId: own }: { name: string; stage: Stage | null; at: number; runId: string },
) {
  const { table, schema } = await prepareTable(session, place, wanted);
  await prepareRuns(session, table);
  const { dialect, query } = session;
  const { mode, rowKey } = schema;
  const runId = stage === null ? null : own;
  if (stage !== null) {
    await session.lock?.(`run ${own}`);
    if (mode !== "append") await session.lockTable?.(table);
  }
  const { holds, rows: earlier } = await earlierRuns(session, table);
  const staged = await session.stagedRows(stage);
  const names = schema.columns.map((column) => dialect.quote(column.name));
  const loaded = `CAST('${new Date(at).toISOString()}' AS ${dialect.types.timestamp})`;
  const values = schema.columns.map(({ type, from }, index) => {
    const value = dialect.staged(index, type);
    return `${from.kind === "loaded_at" ? `coalesce(${value}, ${loaded})` : value} AS ${names[index]}`;
  });
  const to = quoteTable(dialect, table);
  const from = `(SELECT ${values.join(", ")} FROM ${staged} AS staged) AS rows`;
  const rows = { runId, count: stage?.count ?? 0, name, table, schema, to, names, from };
  const found = { schema, holds, earlierRows: earlier, withoutKey: null };
  if (mode === "merge") return { ...found, table, withoutKey: await mergeRows(session, rows) };
  if (mode === "replace") {
    if (stage === null) found.earlierRows ??= numberIn(await query(`SELECT count(*) FROM ${to}`));
    // Unlike TRUNCATE this lets others read the rows meanwhile.
    const others = `${dialect.quote(rowKey[0])} <> ${dialect.parameter(1)}`;
    await query(`DELETE FROM ${to} WHERE ${others}`, [runId]);
  }
  await addRows(session, rows);
  return { ...found, table };
}

/**
 * Writes the rows of a run with too many failures, which its table does not take, as flat NDJSON.
 */
async function keepFailed(
  stage: Stage,
  { columns }: TableSchema,
  path: string,
): Promise<WrittenOutput> {
  const written = await writePart(path, async (file) => {
    for await (const rows of stage.rows()) {
      const lines = rows.map((row) => {
        const members = columns.flatMap(({ name, from }, index) => {
          const cell = row[index] ?? null;
          if (from.kind === "input") return [[name, cell] as const];
          return from.kind === "added" ? [[name, valueOf(from.column.type, cell)] as const] : [];
        });
        return `${JSON.stringify(Object.fromEntries(members))}\n`;
      });
      await file.write(Buffer.from(lines.join("")));
    }
  });
  await renamePart(path);
  return { ...written, rows: stage.count };
}

function valueOf(type: ColumnType, cell: StagedCell): ColumnValue {
  const isText = type === "text" || type === "json" || type === "timestamp";
  return typeof cell !== "string" || isText ? cell : columnTypes[type].fromText(cell);
}

/** The rows of a run, and the table for them. */
interface RowsToStore {
  /** Null for no run. */
  readonly runId: string | null;
  readonly count: number;
  /** Name of the table in messages. */
  readonly name: string;
  readonly table: TableName;
  readonly schema: TableSchema;
  /** The table, its columns and the staged rows with these columns, as SQL. */
  readonly to: string;
  readonly names: readonly string[];
  readonly from: string;
}

/** Adds the rows of a run that are not there yet, and checks that all of them are. */
async function addRows(
  { dialect, query }: TableSession,
  { runId, count, name, schema, table, to, names, from }: RowsToStore,
): Promise<void> {
  const [id, row] = schema.rowKey.map((column) => dialect.quote(column));
  const ofRun = `FROM ${to} AS stored WHERE ${id} = ${dialect.parameter(1)}`;
  const stored = async (what: string): Promise<number> =>
    numberIn(await query(`SELECT ${what} ${ofRun}`, [runId]));
  const list = names.join(", ");
  const insert = `INSERT INTO ${to} (${list}) SELECT ${list} FROM ${from} WHERE`;
  const last = await stored(`max(${row})`);
  // A run that stopped early is published again with all its rows. If none of them were deleted since,
  // only later ones are added: DuckDB would need much memory to look for each of many rows.
  if (last === (await stored("count(*)"))) await query(`${insert} ${row} > ${last}`);
  else {
    const isStored = `EXISTS (SELECT 1 ${ofRun} AND stored.${row} = rows.${row})`;
    await query(`${insert} NOT ${isStored}`, [runId]);
  }
  const found = await stored("count(*)");
  if (found > count) {
    const message = `${name} holds ${found} rows of this run, which has ${count}`;
    throw new FatalError("output_table_differs", message, { hint: startOver });
  }
  if (found < count) {
    throw new FatalError("table_rows_lost", `${name} stored ${found} of ${count} rows`, {
      hint: `check ${tableText(table)} for triggers or rules that drop rows, then ${continueRun}`,
    });
  }
}

/**
 * Keeps one row per key, the newest: that with the latest answer, then of the latest run. A failed row
 * replaces only failed ones. Rows without a value of the key are not stored.
 */
async function mergeRows(
  { dialect, query }: TableSession,
  { schema, to, names, from }: RowsToStore,
): Promise<number> {
  const { columns, rowKey, prefix } = schema;
  const { quote: quoted } = dialect;
  const [status, answered] = [quoted(`${prefix}status`), quoted(`${prefix}looked_up_at`)];
  const hasTime = columns.some(({ name }) => name === `${prefix}looked_up_at`);
  const ages = (of: string): readonly string[] => {
    const time = hasTime ? [`coalesce(${of}.${answered}, ${dialect.earliest})`] : [];
    return [
      `${of}.${status} <> 'failed'`,
      ...time,
      ...rowKey.map((name) => `${of}.${quoted(name)}`),
    ];
  };
  const age = (of: string): string => `(${ages(of).join(", ")})`;
  const order = ages("rows").map((value) => `${value} DESC`);
  const key = schema.key.map(quoted);
  const isKeyed = hasKey(dialect, key);
  const ranked = `SELECT *, row_number() OVER (PARTITION BY ${key.join(", ")} ORDER BY ${order.join(", ")}) AS repute_newest
     FROM ${from} WHERE ${isKeyed}`;
  const newest = `SELECT ${names.join(", ")} FROM (${ranked}) AS ranked WHERE repute_newest = 1`;
  for (const statement of dialect.merge({ to, newest, key, columns: names, age })) {
    await query(statement);
  }
  return numberIn(await query(`SELECT count(*) FROM ${from} WHERE NOT (${isKeyed})`));
}

/** Whether a row has a key that can be stored. @param key its quoted columns */
function hasKey({ maxKeyBytes }: Dialect, key: readonly string[]): string {
  const conditions = key.map((name) => `${name} IS NOT NULL`);
  if (maxKeyBytes !== undefined) {
    const bytes = key.map((name) => `octet_length(CAST(${name} AS text))`);
    conditions.push(`${bytes.join(" + ")} <= ${maxKeyBytes}`);
  }
  return conditions.join(" AND ");
}

/** The only value of a result; 0 for none. */
function numberIn([row]: Awaited<ReturnType<Query>>): number {
  return Number(row?.[0] ?? 0);
}
