import { existsSync } from "node:fs";
import { addedColumns, optionalColumnsIn } from "../../core/columns.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { joinedEntries } from "../../formats/joined-entries.js";
import type { EarlierRecord } from "../../formats/types.js";
import { quoteIdentifier, quoteTable } from "./dialect.js";
import type { Audit } from "../audit-output.js";
import { RunRows } from "./run-rows.js";
import type { Connect, TableDatabase, TableSession, TableTarget } from "./table-database.js";
import type { RunIdentity, SavedRows, SavedRowsOptions } from "./types.js";

/** Most rows fetched at a time. The first page is small, because rows may be large. */
const pageRows = { first: 100, most: 10_000 };

/** Characters that a page should have. */
const pageCharacters = 8 * 1024 * 1024;

/** Columns to read: the added ones without their prefix, and the input's own. */
export interface SavedColumns {
  readonly added: readonly string[];
  readonly own: readonly string[];
}

/**
 * Chooses the columns to read among those that an output has.
 *
 * @throws UsageError `not_an_output` when one is missing
 */
export function savedColumns(
  display: string,
  names: readonly string[],
  { prefix, only }: SavedRowsOptions,
): SavedColumns {
  const optional = optionalColumnsIn(names, prefix);
  const added = only ?? addedColumns(optional).map(({ name }) => name);
  const lacking = added.find((name) => !names.includes(prefix + name));
  if (lacking !== undefined) {
    throw new UsageError("not_an_output", `${display} has no column ${prefix}${lacking}`, {
      hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
    });
  }
  const ours = new Set(["run_id", "row", ...added].map((name) => prefix + name));
  return { added, own: only === undefined ? names.filter((name) => !ours.has(name)) : [] };
}

/** A record of the values of these columns, the added ones first. */
export function savedRecord({ added }: SavedColumns, values: readonly unknown[]): EarlierRecord {
  const text = (name: string): string => textOf(values[added.indexOf(name)]);
  return {
    text,
    list: (name) => joinedEntries(text(name)),
    cells: values.slice(added.length).map(textOf),
    json: null,
    extra: text("extra") || null,
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.join("|") : `${value as string | number | bigint}`;
}

/**
 * Opens the rows of one run in a table. They are read page by page along the key.
 *
 * @throws FatalError `output_missing`, `no_such_run`; UsageError `not_an_output`; what the database throws
 */
export async function tableRows<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  options: SavedRowsOptions,
): Promise<SavedRows> {
  const { display, file } = target;
  if (file !== null && !existsSync(file)) throw missing(display);
  const database = await connect(target, { access: "read", onWarning: () => undefined });
  try {
    const query = await database.transaction((session) => pageQuery(session, target, options));
    return { columns: query.columns.own, records: pages(database, query, display) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** How the rows of a run are fetched. */
interface PageQuery {
  readonly sql: string;
  /** Null for an empty table. */
  readonly runId: string | null;
  readonly columns: SavedColumns;
}

async function* pages(
  database: TableDatabase,
  { sql, runId, columns }: PageQuery,
  display: string,
): AsyncGenerator<readonly EarlierRecord[]> {
  try {
    if (runId === null) return;
    let limit = pageRows.first;
    for (let after = 0; ;) {
      const limited = `${sql} LIMIT ${limit}`;
      const page = await database.transaction(({ query }) => query(limited, [runId, after]));
      if (page.length === 0) {
        if (after === 0) throw noSuchRun(display, runId);
        return;
      }
      yield page.map(([, ...values]) => savedRecord(columns, values));
      after = Number(page.at(-1)?.[0]);
      limit = nextLimit(page);
    }
  } finally {
    await database.close();
  }
}

/** How many rows like those of a page make the next one. */
function nextLimit(page: readonly (readonly unknown[])[]): number {
  let characters = 0;
  for (const row of page) {
    for (const value of row) if (typeof value === "string") characters += value.length;
  }
  const fitting = Math.floor((pageCharacters * page.length) / Math.max(1, characters));
  return Math.max(1, Math.min(pageRows.most, fitting));
}

async function pageQuery(
  session: TableSession,
  { kind, display, table }: TableTarget,
  options: SavedRowsOptions,
): Promise<PageQuery> {
  const found = await session.find(table);
  if (found === null) throw missing(display);
  const place = { ...table, schema: found.schema };
  const from = quoteTable(kind, place);
  const types = new Map((await session.columnsOf(place)).map(({ name, type }) => [name, type]));
  const columns = savedColumns(display, [...types.keys()], options);
  const { prefix, runId } = options;
  const ours = (name: string): string => quoteIdentifier(kind, prefix + name);
  const cells = [...columns.added.map((name) => prefix + name), ...columns.own].map((name) => {
    const quoted = quoteIdentifier(kind, name);
    const isList = types.get(name)?.endsWith("[]") === true;
    return isList ? `array_to_string(${quoted}, '|')` : `CAST(${quoted} AS varchar)`;
  });
  // PostgreSQL names a cast after its column, and would order by that text: 1, 10, 2.
  const sql = `SELECT CAST(${ours("row")} AS varchar) AS position, ${cells.join(", ")} FROM ${from}
    WHERE ${ours("run_id")} = $1 AND ${ours("row")} > $2 ORDER BY ${ours("row")}`;
  if (typeof runId === "string") return { sql, runId, columns };
  const [newest] = await session.query(
    `SELECT ${ours("run_id")} FROM ${from} GROUP BY 1
     ORDER BY max(${ours("looked_up_at")}) DESC NULLS LAST, 1 DESC LIMIT 1`,
  );
  return { sql, runId: newest === undefined ? null : String(newest[0]), columns };
}

/**
 * Counts the rows of a finished run.
 *
 * @throws FatalError `output_missing`, `output_corrupt`; errors of the database
 */
export async function recountRows<T extends TableTarget>(
  connect: Connect<T>,
  target: T,
  run: RunIdentity,
): Promise<Audit> {
  const { kind, display, file, table } = target;
  if (file !== null && !existsSync(file)) throw missing(display);
  const database = await connect(target, { access: "read", onWarning: () => undefined });
  try {
    return await database.transaction(async (session) => {
      const found = await session.find(table);
      if (found === null) throw missing(display);
      const rows = new RunRows(kind, { ...table, schema: found.schema }, run);
      return rows.audit(session.query, display);
    });
  } finally {
    await database.close();
  }
}

function missing(display: string): FatalError {
  return new FatalError("output_missing", `there is no table ${display}`);
}

function noSuchRun(display: string, runId: string): FatalError {
  return new FatalError("no_such_run", `${display} has no rows of the run ${runId}`, {
    hint: "leave out run= to read the newest run",
  });
}
