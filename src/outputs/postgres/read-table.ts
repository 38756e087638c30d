import { ReputeError } from "../../core/errors.js";
import type { InputType } from "../../formats/typed-column.js";
import { queryRefused, severalStatements, tableNotFound } from "../tables/table-fault.js";
import type { Selection, TableReadOptions, TableReceiver } from "../tables/types.js";
import { quoteTable } from "../sql/dialect.js";
import type { PostgresTarget } from "../warehouse/target.js";
import { columnReader, type ElementTypes, postgresType } from "./input-values.js";
import { PostgresDatabase } from "./postgres-database.js";
import type { PostgresSession } from "./postgres-session.js";
import { type CursorPage, cursorPrefix } from "./session-settings.js";

export interface ReadPostgresOptions extends TableReadOptions {
  readonly selection: Selection;
  readonly receiver: TableReceiver;
}

/** Rows of the first page, before the size of a row is known, and the most of a page. */
const pageRows = { first: 100, most: 10_000 };

/** Characters of a page. */
const pageCharacters = 4 * 1024 * 1024;

/**
 * Reads a table or the result of a query in one read-only transaction, through a cursor. A lost
 * connection starts it over.
 */
export async function readPostgresTable(
  target: PostgresTarget,
  { selection, receiver, ...options }: ReadPostgresOptions,
): Promise<void> {
  const database = await PostgresDatabase.open(target, { ...options, access: "read" });
  try {
    await database.snapshot(async (session) => {
      try {
        await declare(session, target, selection);
        await fetchAll(session, receiver, options.signal);
      } catch (error) {
        throw "query" in selection ? explained(error, selection.query) : error;
      }
    });
  } finally {
    await database.close();
  }
}

async function declare(
  session: PostgresSession,
  { display }: PostgresTarget,
  selection: Selection,
): Promise<void> {
  if ("query" in selection) {
    await session.declareCursor(selection.query);
    return;
  }
  const { table } = selection;
  const found = await session.find(table);
  if (found === null) {
    const names = await session.query(
      `SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
       AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 1`,
    );
    const place = display.replace(/\?table=.*$/, "");
    throw tableNotFound(
      place,
      table,
      names.map(([name]) => String(name)),
    );
  }
  await session.declareCursor(
    `SELECT * FROM ${quoteTable("postgres", { ...table, schema: found.schema })}`,
  );
}

async function fetchAll(
  session: PostgresSession,
  receiver: TableReceiver,
  signal: AbortSignal | undefined,
): Promise<void> {
  let readers: readonly ReturnType<typeof columnReader>[] | null = null;
  for (let count = pageRows.first; ;) {
    signal?.throwIfAborted();
    const { columns, rows }: CursorPage = await session.fetch(count);
    if (readers === null) {
      const types = columns.map(({ type }) => type);
      const elements = await elementTypes(session, types);
      readers = columns.map(({ type }) => columnReader(type, elements));
      await receiver.begin(
        columns.map(({ name }) => name),
        await inputTypes(session, columns),
      );
    }
    if (rows.length === 0) return;
    const read = readers;
    await receiver.rows(
      rows.map((row) => row.map((text, index) => (text === null ? null : read[index]!(text)))),
    );
    count = nextCount(rows);
  }
}

/** As many rows as fill a page, judging by this one. */
function nextCount(rows: CursorPage["rows"]): number {
  let characters = 1;
  for (const row of rows) for (const cell of row) characters += cell?.length ?? 0;
  const fitting = Math.floor((rows.length * pageCharacters) / characters);
  return Math.max(1, Math.min(pageRows.most, fitting));
}

/** The types of the elements of those types that are arrays. */
async function elementTypes(
  session: PostgresSession,
  types: readonly number[],
): Promise<ElementTypes> {
  const rows = await session.query(
    `SELECT oid::int8, typelem::int8 FROM pg_type
     WHERE typcategory = 'A' AND typdelim = ',' AND oid = ANY (string_to_array($1, ',')::oid[])`,
    [types.join(",")],
  );
  return new Map(rows.map(([type, element]) => [Number(type), Number(element)]));
}

/** The types of the columns, with the names that the server has for them. */
async function inputTypes(
  session: PostgresSession,
  columns: CursorPage["columns"],
): Promise<readonly InputType[]> {
  const types = columns.map(({ type }) => type);
  const rows = await session.query(
    `SELECT oid::int8, format_type(oid, NULL), typtype = 'e' OR typcategory = 'S' FROM pg_type
     WHERE oid = ANY (string_to_array($1, ',')::oid[])`,
    [types.join(",")],
  );
  const known = new Map(rows.map(([oid, name, isText]) => [Number(oid), { name, isText }]));
  return columns.map(({ type, modifier }) => {
    const { name = null, isText = false } = known.get(type) ?? {};
    const own = isText ? "text" : postgresType(type, modifier);
    return { type: own, declared: String(name ?? "untyped") };
  });
}

/** SQLSTATEs of the server that concern the query: syntax, names, types, read-only transaction. */
const ofQuery = /^(?:42(?!501)|22|25006|0A000|2F|3F|21)/;

function explained(error: unknown, query: string): unknown {
  if (error instanceof ReputeError || !(error instanceof Error)) return error;
  const { code = "", position } = error as { code?: string; position?: string };
  if (!ofQuery.test(code)) return error;
  if (/multiple commands/.test(error.message)) return severalStatements();
  const at = position === undefined ? null : Number(position) - cursorPrefix.length;
  return queryRefused(error.message, query, at, error);
}
