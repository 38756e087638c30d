import { systemClock } from "../../../core/clock.js";
import { FatalError, UsageError, startOver, continueRun } from "../../../core/errors.js";
import { columnTypes } from "../../formats/column-types.js";
import { writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import type { Stage, StagedCell } from "../stage.js";
import type { ColumnType, ColumnValue } from "../../../core/column.js";
import { type Dialect, quoteIdentifier, quoteTable, type TableName, tableText } from "./dialect.js";
import { prepareTable } from "./prepare-table.js";
import { cellsEncoder } from "../row-cells.js";
import { dataOf, lastRunRows, prepareRuns, recordRun, tableData } from "./run-records.js";
import {
  mixedData,
  otherTable,
  type CheckedOutput,
  type PublishedAs,
  type Publisher,
  type PublisherOptions,
} from "../publisher.js";
import { countAll } from "./read.js";
import {
  type Connect,
  type TableSession,
  type TableTarget,
  withDatabase,
} from "./table-database.js";
import { type TableSchema, tableSchema, textWarnings } from "../typed/table-schema.js";
import type { WrittenOutput } from "../types.js";

/**
 * Publishes rows in a table, all of them in one transaction. A missing table is created with them. The
 * rows of a run with too many failures become a file beside its state.
 */
export function tablePublisher(
  connect: Connect,
  target: TableTarget,
  options: PublisherOptions,
): Publisher {
  const { mode } = options;
  const { rules } = target.dialect;
  const wanted = tableSchema(rules, options);
  return {
    // Only a whole run replaces the rows of others.
    takesParts: mode !== "replace",
    async check() {
      const { schema, ...found } = await checkTablePlace(connect, target, wanted, options);
      const warnings = textWarnings(rules, options);
      return { ...found, warnings, encoder: cellsEncoder(schema, options) };
    },
    async publish(stage, { suffix, ...as }) {
      if (suffix !== "") return keepFailed(stage, wanted, `${options.base}${suffix}.ndjson`);
      return withDatabase(connect, { ...options, access: "write" }, async (database) => {
        const written = await database.transaction((session) =>
          load(session, target, wanted, options, { stage, ...as }),
        );
        await database.settle?.();
        return written;
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
  options: PublisherOptions,
): Promise<{ readonly schema: TableSchema } & Pick<CheckedOutput, "earlierRows" | "holds">> {
  return withDatabase(connect, { ...options, access: "check" }, (database) =>
    database.transaction(async (session) => {
      const { table, schema } = await prepareTable(session, target.table, wanted);
      const runs = await prepareRuns(session, table);
      const { clock = systemClock } = options;
      const none = { schema, staged: await session.stagedRows(null), at: clock.now() };
      await storeRows(session, stagedSelect(session, table, none), null);
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

async function load(
  session: TableSession,
  { name, table: place }: TableTarget,
  wanted: TableSchema,
  options: PublisherOptions,
  { stage, manifest, at }: { readonly stage: Stage } & Omit<PublishedAs, "suffix">,
): Promise<WrittenOutput> {
  const { runId, mode = "append" } = options;
  const { table, schema } = await prepareTable(session, place, wanted);
  const runs = await prepareRuns(session, table);
  await session.lock?.(`run ${runId}`);
  if (mode !== "append") await session.lockTable?.(table);
  const holds = await tableData(session, runs);
  const staged = await session.stagedRows(stage);
  const rows = stagedSelect(session, table, { schema, staged, at });
  const withoutKey = await storeRows(session, rows, { runId, count: stage.count, name });
  const counts = { bytes: null, sha256: null, rows: stage.count };
  const written = withoutKey === null ? counts : { ...counts, withoutKey };
  const record = manifest(written);
  const ours = record && dataOf(record);
  if (holds !== null && ours !== null && holds !== ours) {
    throw new FatalError("made_up_rows", mixedData(name, holds), { hint: otherTable });
  }
  if (record !== null) await recordRun(session, runs, { manifest: record, now: at });
  return written;
}

/**
 * Writes the rows of a run with too many failures, which its table does not take, as flat NDJSON.
 */
async function keepFailed(
  stage: Stage,
  { columns }: TableSchema,
  path: string,
): Promise<WrittenOutput> {
  let count = 0;
  const written = await writePart(path, async (file) => {
    for await (const rows of stage.rows()) {
      count += rows.length;
      const lines = rows.map((row) => {
        const members = columns.flatMap(({ name, from }, index) => {
          const cell = row[index] ?? null;
          if (from.kind === "input") return [[name, cell] as const];
          if (from.kind !== "added") return [];
          return [[name, valueOf(from.column.type, cell)] as const];
        });
        return `${JSON.stringify(Object.fromEntries(members))}\n`;
      });
      await file.write(Buffer.from(lines.join("")));
    }
  });
  await renamePart(path);
  return { ...written, rows: count };
}

function valueOf(type: ColumnType, cell: StagedCell): ColumnValue {
  const isText = type === "text" || type === "json" || type === "timestamp";
  return typeof cell !== "string" || isText ? cell : columnTypes[type].fromText(cell);
}

interface RowsToStore {
  readonly schema: TableSchema;
  /** The table, its columns and the staged rows with these columns, as SQL. */
  readonly to: string;
  readonly names: readonly string[];
  readonly from: string;
  readonly table: TableName;
}

/** @param at time of publishing, in milliseconds; rows that a retry copies have theirs */
function stagedSelect(
  { dialect }: TableSession,
  table: TableName,
  { schema, staged, at }: { schema: TableSchema; staged: string; at: number },
): RowsToStore {
  const names = schema.columns.map(({ name }) => quoteIdentifier(dialect, name));
  const loaded = `CAST('${new Date(at).toISOString()}' AS ${dialect.types.timestamp})`;
  const values = schema.columns.map(({ type, from }, index) => {
    const value = dialect.staged(index, type);
    const filled = from.kind === "loaded_at" ? `coalesce(${value}, ${loaded})` : value;
    return `${filled} AS ${names[index]}`;
  });
  const from = `(SELECT ${values.join(", ")} FROM ${staged} AS staged) AS rows`;
  return { schema, table, to: quoteTable(dialect, table), names, from };
}

interface RunToStore {
  readonly runId: string;
  /** Number of its rows. */
  readonly count: number;
  /** Name of the table in messages. */
  readonly name: string;
}

/**
 * Stores the rows of a run as the mode of the table says. May be repeated.
 *
 * @param run null stores none, which shows whether rows may be stored
 * @returns of a merged table: rows that lack a value of its key
 */
async function storeRows(
  session: TableSession,
  rows: RowsToStore,
  run: RunToStore | null,
): Promise<number | null> {
  const { mode } = rows.schema;
  if (mode === "merge") return mergeRows(session, rows);
  if (mode === "replace") await removeOthers(session, rows, run?.runId ?? null);
  await addRows(session, rows, run);
  return null;
}

/** Adds the rows of a run that are not there yet, and checks that all of them are. */
async function addRows(
  { dialect, query }: TableSession,
  { schema, table, to, names, from }: RowsToStore,
  run: RunToStore | null,
): Promise<void> {
  const [id, row] = schema.rowKey.map((name) => quoteIdentifier(dialect, name));
  const { runId = null, count = 0, name = "" } = run ?? {};
  const ofRun = `FROM ${to} AS stored WHERE ${id} = ${dialect.parameter(1)}`;
  const stored = async (what: string): Promise<number> =>
    Number((await query(`SELECT ${what} ${ofRun}`, [runId]))[0]?.[0] ?? 0);
  const last = await stored(`max(${row})`);
  const list = names.join(", ");
  const insert = `INSERT INTO ${to} (${list}) SELECT ${list} FROM ${from}`;
  // Each publishing adds all rows so far; some may have been deleted since.
  if (last === (await stored("count(*)"))) await query(`${insert} WHERE ${row} > ${last}`);
  else
    await query(`${insert} WHERE NOT EXISTS (SELECT 1 ${ofRun} AND stored.${row} = rows.${row})`, [
      runId,
    ]);
  const found = await stored("count(*)");
  if (found === count) return;
  if (found > count) {
    throw new FatalError(
      "output_table_differs",
      `${name} holds ${found} rows of this run, which has ${count}`,
      { hint: startOver },
    );
  }
  throw new FatalError("rows_lost", `${name} stored ${found} of ${count} rows`, {
    hint: `check ${tableText(table)} for triggers or rules that drop rows, then ${continueRun}`,
  });
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
  const quoted = (name: string): string => quoteIdentifier(dialect, name);
  const [status, answered] = [quoted(`${prefix}status`), `${prefix}looked_up_at`];
  const hasTime = columns.some(({ name }) => name === answered);
  const age = (of: string): string => {
    const time = hasTime ? [`coalesce(${of}.${quoted(answered)}, ${dialect.earliest})`] : [];
    const run = rowKey.map((name) => `${of}.${quoted(name)}`);
    return `(${[`${of}.${status} <> 'failed'`, ...time, ...run].join(", ")})`;
  };
  const order = [
    `${status} = 'failed'`,
    ...(hasTime ? [`${quoted(answered)} DESC NULLS LAST`] : []),
    ...rowKey.map((name) => `${quoted(name)} DESC`),
  ];
  const key = schema.key.map(quoted);
  const ranked = `SELECT *, row_number() OVER (PARTITION BY ${key.join(", ")} ORDER BY ${order.join(", ")}) AS repute_newest
     FROM ${from} WHERE ${hasKey(dialect, schema)}`;
  const newest = `SELECT ${names.join(", ")} FROM (${ranked}) AS ranked WHERE repute_newest = 1`;
  for (const setting of dialect.mergeSettings) await query(setting);
  for (const statement of dialect.merge({ to, newest, key, columns: names, age })) {
    await query(statement);
  }
  const keyed = hasKey(dialect, schema);
  const [lacking] = await query(`SELECT count(*) FROM ${from} WHERE NOT (${keyed})`);
  return Number(lacking?.[0] ?? 0);
}

/**
 * Removes the rows of other runs. Unlike TRUNCATE this lets others read them meanwhile.
 *
 * @param runId null removes nothing, which shows whether it may
 */
async function removeOthers(
  { dialect, query }: TableSession,
  { to, schema }: RowsToStore,
  runId: string | null,
): Promise<void> {
  const run = quoteIdentifier(dialect, schema.rowKey[0]);
  await query(`DELETE FROM ${to} WHERE ${run} <> ${dialect.parameter(1)}`, [runId]);
}

/** Whether a row has a key that can be stored. */
function hasKey(dialect: Dialect, { key }: TableSchema): string {
  const names = key.map((name) => quoteIdentifier(dialect, name));
  const conditions = names.map((name) => `${name} IS NOT NULL`);
  const { maxKeyBytes } = dialect;
  if (maxKeyBytes !== undefined) {
    const bytes = names.map((name) => `octet_length(CAST(${name} AS text))`);
    conditions.push(`${bytes.join(" + ")} <= ${maxKeyBytes}`);
  }
  return conditions.join(" AND ");
}
