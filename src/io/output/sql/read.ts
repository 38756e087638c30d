import { existsSync } from "node:fs";
import {
  addedColumns,
  lackedColumns,
  type OptionalColumns,
  optionalColumnsIn,
} from "../../../core/columns.js";
import { mapLists } from "../../formats/reading/lines.js";
import type { RunRows, TableRecords } from "../output.js";
import { typedRecord } from "../output-row.js";
import { copiedRows } from "../../input/copied/copied-rows.js";
import type { TableInput } from "../../input/table-input.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { quoteIdentifier, quoteTable, type TableName } from "./dialect.js";
import { checkTable } from "./prepare-table.js";
import {
  type Connect,
  type ConnectOptions,
  type FoundTable,
  type TableSession,
  type TableTarget,
  withDatabase,
} from "./table-database.js";
import { tableSchema } from "../typed/table-schema.js";

/**
 * Opens the rows of a run in a table, in their order.
 *
 * @param select makes an input of a query
 */
export async function readRun(
  connect: Connect,
  target: TableTarget,
  rows: RunRows,
  select: (query: string) => TableInput,
): Promise<TableRecords> {
  const found = await readTable(connect, target, { access: "read" }, (session, table) =>
    findRun(session, table, target, rows),
  );
  if (found === null) throw outputMissing(target);
  const { only } = rows;
  const { optional, own, query } = found;
  const lacks = lackedColumns(only ?? [], optional);
  const wanted = only ?? addedColumns(optional).map(({ name }) => name);
  const added = wanted.filter((name) => !lacks.includes(name));
  const columns = only === undefined ? own : [];
  const input = select(query(added, columns));
  const records = mapLists(copiedRows(input), (row) => typedRecord(added, row));
  return { columns, records, optional };
}

interface FoundRun {
  readonly optional: OptionalColumns;
  /** The table's own columns. */
  readonly own: readonly string[];
  /** What selects these added columns, without their prefix, and these others. */
  readonly query: (added: readonly string[], own: readonly string[]) => string;
}

async function findRun(
  session: TableSession,
  table: TableName,
  target: TableTarget,
  { prefix, runId }: RunRows,
): Promise<FoundRun> {
  const { dialect, name } = target;
  const columns = await session.columnsOf(table);
  const names = columns.map((column) => column.name);
  if (!names.includes(`${prefix}status`)) throw notAnOutput(name, `${prefix}status`);
  const optional = optionalColumnsIn(names, prefix);
  const schema = tableSchema(dialect.rules, { columns: [], prefix, optional });
  checkTable(dialect, table, schema, columns);
  const id = runId ?? (await newestRun(session, target, table, prefix));
  if ((await countRun(session, table, { runId: id, prefix })) === 0) {
    throw new FatalError("no_such_run", `${name} has no rows of the run ${id}`, {
      hint: "name another run, or none to take the newest",
    });
  }
  const ours = new Map(schema.columns.map((column) => [column.name, column.type]));
  const quoted = (column: string): string => quoteIdentifier(dialect, column);
  const selected = (column: string): string =>
    ours.get(column) === "text[]"
      ? `array_to_string(${quoted(column)}, '|') AS ${quoted(column)}`
      : quoted(column);
  const rows = `FROM ${quoteTable(dialect, table)}
        WHERE ${quoted(`${prefix}run_id`)} = '${id.replaceAll("'", "''")}'
        ORDER BY ${quoted(`${prefix}row`)}`;
  return {
    optional,
    own: names.filter((column) => !ours.has(column)),
    query: (added, own) =>
      `SELECT ${[...added.map((column) => prefix + column), ...own].map(selected).join(", ")} ${rows}`,
  };
}

export async function countAll(
  { dialect, query }: TableSession,
  table: TableName,
): Promise<number> {
  const [found] = await query(`SELECT count(*) FROM ${quoteTable(dialect, table)}`);
  return Number(found?.[0] ?? 0);
}

async function countRun(
  { dialect, query }: TableSession,
  table: TableName,
  { runId, prefix }: { readonly runId: string; readonly prefix: string },
): Promise<number> {
  const column = quoteIdentifier(dialect, `${prefix}run_id`);
  const from = quoteTable(dialect, table);
  const [found] = await query(
    `SELECT count(*) FROM ${from} WHERE ${column} = ${dialect.parameter(1)}`,
    [runId],
  );
  return Number(found?.[0] ?? 0);
}

async function readTable<R>(
  connect: Connect,
  { database: file, table }: TableTarget,
  options: ConnectOptions,
  read: (session: TableSession, table: FoundTable) => Promise<R>,
): Promise<R | null> {
  if (file !== null && !existsSync(file)) return null;
  return withDatabase(connect, options, (database) =>
    database.transaction(async (session) => {
      const found = await session.find(table);
      return found && read(session, found);
    }, "ROLLBACK"),
  );
}

function outputMissing({ name }: TableTarget): FatalError {
  return new FatalError("output_missing", `there is no table ${name}`, {
    hint: "check the name",
  });
}

async function newestRun(
  { query }: TableSession,
  { dialect, name }: TableTarget,
  table: TableName,
  prefix: string,
): Promise<string> {
  const column = quoteIdentifier(dialect, `${prefix}run_id`);
  const [newest] = await query(`SELECT max(${column}) FROM ${quoteTable(dialect, table)}`);
  const runId = newest?.[0] ?? null;
  if (runId !== null) return String(runId);
  throw new FatalError("no_such_run", `${name} has no rows`, { hint: "check the name" });
}

function notAnOutput(name: string, column: string): UsageError {
  return new UsageError("not_an_output", `${name} has no column ${column}`, {
    hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
  });
}
