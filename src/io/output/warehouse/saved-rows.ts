import { existsSync } from "node:fs";
import { type OptionalColumns, optionalColumnsIn } from "../../../core/columns.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { quoteIdentifier, quoteTable, type TableName } from "../sql/dialect.js";
import { checkTable } from "./prepare-table.js";
import {
  type Connect,
  type ConnectOptions,
  type FoundTable,
  type TableSession,
  withDatabase,
} from "./table-database.js";
import type { TableTarget } from "./target.js";
import { tableSchema } from "../sql/table-schema.js";

export interface FoundRows {
  readonly runId: string;
  readonly optional: OptionalColumns;
  readonly own: readonly string[];
  /** What selects these added columns, without their prefix, and these others. */
  select(added: readonly string[], own: readonly string[]): string;
}

/**
 * Finds the rows of a run.
 *
 * @param runId default the newest run
 */
export async function findSavedRun(
  connect: Connect,
  target: TableTarget,
  { prefix, runId }: { readonly prefix: string; readonly runId: string | null },
): Promise<FoundRows> {
  const { kind, display } = target;
  const rows = await readTable(connect, target, { access: "read" }, async (session, table) => {
    const columns = await session.columnsOf(table);
    const names = columns.map(({ name }) => name);
    if (!names.includes(`${prefix}status`)) throw notAnOutput(display, `${prefix}status`);
    const optional = optionalColumnsIn(names, prefix);
    const schema = tableSchema(kind, { columns: [], prefix, optional });
    checkTable(kind, table, schema, columns);
    const id = runId ?? (await newestRun(session, target, table, prefix));
    if ((await countRun(session, table, { runId: id, prefix })) === 0) {
      throw new FatalError("no_such_run", `${display} has no rows of the run ${id}`, {
        hint: "name another run, or none to take the newest",
      });
    }
    const ours = new Set(schema.columns.map(({ name }) => name));
    const quoted = (name: string): string => quoteIdentifier(kind, name);
    const rows = `FROM ${quoteTable(kind, table)}
        WHERE ${quoted(`${prefix}run_id`)} = '${id.replaceAll("'", "''")}'
        ORDER BY ${quoted(`${prefix}row`)}`;
    return {
      runId: id,
      optional,
      own: names.filter((name) => !ours.has(name)),
      select: (added: readonly string[], own: readonly string[]) =>
        `SELECT ${[...added.map((name) => prefix + name), ...own].map(quoted).join(", ")} ${rows}`,
    };
  });
  if (rows !== null) return rows;
  throw outputMissing(target);
}

export async function countAll(
  { dialect, query }: TableSession,
  table: TableName,
): Promise<number> {
  const [found] = await query(`SELECT count(*) FROM ${quoteTable(dialect, table)}`);
  return Number(found?.[0] ?? 0);
}

export async function countRun(
  { dialect, query }: TableSession,
  table: TableName,
  { runId, prefix }: { readonly runId: string; readonly prefix: string },
): Promise<number> {
  const column = quoteIdentifier(dialect, `${prefix}run_id`);
  const from = quoteTable(dialect, table);
  const [found] = await query(`SELECT count(*) FROM ${from} WHERE ${column} = $1`, [runId]);
  return Number(found?.[0] ?? 0);
}

async function readTable<R>(
  connect: Connect,
  { file, table }: TableTarget,
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

function outputMissing({ display }: TableTarget): FatalError {
  return new FatalError("output_missing", `there is no table ${display}`, {
    hint: "check the name",
  });
}

async function newestRun(
  { query }: TableSession,
  { kind, display }: TableTarget,
  table: TableName,
  prefix: string,
): Promise<string> {
  const column = quoteIdentifier(kind, `${prefix}run_id`);
  const [newest] = await query(`SELECT max(${column}) FROM ${quoteTable(kind, table)}`);
  const runId = newest?.[0] ?? null;
  if (runId !== null) return String(runId);
  throw new FatalError("no_such_run", `${display} has no rows`, { hint: "check the name" });
}

function notAnOutput(display: string, column: string): UsageError {
  return new UsageError("not_an_output", `${display} has no column ${column}`, {
    hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
  });
}
