import type { QueryArrayConfig, QueryConfig } from "pg";
import { ReputeError } from "../../../core/errors.js";
import { queryRefused, severalStatements } from "../sql/table-database.js";
import type { TableReceiver } from "../../input/table-input.js";
import type { Selection, SelectionReading } from "../sql/table-database.js";
import { quoteTable } from "../sql/dialect.js";
import { postgres } from "./dialect.js";
import { type FetchedColumns, fetchedColumns } from "./fetched-columns.js";
import { PostgresDatabase, type PostgresServer } from "./postgres-database.js";
import type { PostgresSession } from "./postgres-session.js";

/** Rows of the first page, before the size of a row is known, and the most of a page. */
const pageRows = { first: 100, most: 10_000 };

const pageCharacters = 4 * 1024 * 1024;

/** How values are printed, and that all rows of a cursor will be fetched. */
const settings = [
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL extra_float_digits = 1",
  "SET LOCAL cursor_tuple_fraction = 1",
  // A query may sort a large table before its first row.
  "SET LOCAL statement_timeout = 0",
];

/** Timeout of pg for the rows of a cursor. Keepalives detect a dead server long before. */
const query_timeout = 24 * 60 * 60_000;

interface CursorQuery extends QueryConfig {
  readonly queryMode?: "extended";
  readonly query_timeout: number;
}

/**
 * Reads a table or the result of a query in one read-only transaction, through a cursor. A lost
 * connection starts it over.
 */
export async function readPostgresTable(
  target: PostgresServer,
  { selection, receiver, ...options }: SelectionReading,
): Promise<void> {
  const database = new PostgresDatabase(target, { ...options, access: "read" });
  try {
    const read = async (session: PostgresSession): Promise<void> => {
      try {
        await declare(session, selection);
        await fetchAll(session, receiver, options.signal);
      } catch (error) {
        throw "query" in selection ? explained(error) : error;
      }
    };
    await database.transaction(read, "ROLLBACK");
  } finally {
    await database.close();
  }
}

async function declare(session: PostgresSession, selection: Selection): Promise<void> {
  await session.client.query(settings.join("; "));
  const query =
    "query" in selection
      ? selection.query
      : `SELECT * FROM ${quoteTable(postgres, selection.table)}`;
  // The extended protocol refuses more than one query.
  const text = `DECLARE repute_input NO SCROLL CURSOR FOR ${query}`;
  const statement: CursorQuery = { text, queryMode: "extended", query_timeout };
  await session.client.query(statement);
}

async function fetchAll(
  session: PostgresSession,
  receiver: TableReceiver,
  signal: AbortSignal | undefined,
): Promise<void> {
  let columns: FetchedColumns | null = null;
  for (let count = pageRows.first; ;) {
    signal?.throwIfAborted();
    // Values are as the server prints them.
    const statement: CursorQuery & QueryArrayConfig = {
      text: `FETCH FORWARD ${count} FROM repute_input`,
      rowMode: "array",
      types: { getTypeParser: () => (text: string) => text },
      query_timeout,
    };
    const { fields, rows } = await session.client.query<(string | null)[]>(statement);
    if (columns === null) {
      columns = await fetchedColumns(session, fields);
      await receiver.begin(columns.names, columns.types);
    }
    if (rows.length === 0) return;
    const { readers } = columns;
    await receiver.rows(
      rows.map((row) => row.map((text, index) => (text === null ? null : readers[index]!(text)))),
    );
    count = nextCount(rows);
  }
}

/** As many rows as fill a page, judging by this one. */
function nextCount(rows: readonly (readonly (string | null)[])[]): number {
  let characters = 1;
  for (const row of rows) for (const cell of row) characters += cell?.length ?? 0;
  const fitting = Math.floor((rows.length * pageCharacters) / characters);
  return Math.max(1, Math.min(pageRows.most, fitting));
}

/** SQLSTATEs of the server that concern the query: syntax, names, types, read-only transaction. */
const ofQuery = /^(?:42(?!501)|22|25006|0A000|2F|3F|21)/;

function explained(error: unknown): unknown {
  if (error instanceof ReputeError || !(error instanceof Error)) return error;
  const { code = "" } = error as { code?: string };
  if (!ofQuery.test(code)) return error;
  if (/multiple commands/.test(error.message)) return severalStatements();
  return queryRefused(error.message, error);
}
