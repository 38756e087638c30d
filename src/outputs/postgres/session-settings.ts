import type { Client } from "pg";
import { UsageError } from "../../core/errors.js";

/**
 * Limits set per transaction with SET LOCAL, because some poolers reject startup parameters.
 * Keepalives let the server detect a dead client and release its locks.
 */
export const sessionLimits = {
  lock_timeout: "60s",
  statement_timeout: "10min",
  idle_in_transaction_session_timeout: "2min",
  tcp_keepalives_idle: "30",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "3",
};

/** Timeout of pg for any answer; longer than `statement_timeout`. */
export const answerTimeoutMs = 11 * 60_000;

/** Timeouts for connecting and for a clean disconnect. */
export const connectTimeoutMs = 30_000;
export const endTimeoutMs = 2_000;

/** How values of a snapshot are printed, and that all rows of a cursor will be fetched. */
export const printed = [
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL extra_float_digits = 1",
  "SET LOCAL cursor_tuple_fraction = 1",
  // A query may sort a large table before its first row.
  "SET LOCAL statement_timeout = 0",
];

/** Timeout of pg for the rows of a cursor. Keepalives detect a dead server long before. */
export const fetchTimeoutMs = 24 * 60 * 60_000;

export const cursorName = "repute_input";

/** Precedes the query in the statement that the server sees. */
export const cursorPrefix = `DECLARE ${cursorName} NO SCROLL CURSOR FOR `;

/** Rows of a cursor. */
export interface CursorPage {
  /** Names, and the server's numbers of the types and of what modifies them, -1 for nothing. */
  readonly columns: readonly {
    readonly name: string;
    readonly type: number;
    readonly modifier: number;
  }[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** @throws UsageError `database_encoding` */
export async function mustBeUtf8(client: Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
  const encoding = rows[0]?.server_encoding;
  if (encoding === "UTF8") return;
  client.connection.stream.destroy();
  throw new UsageError(
    "database_encoding",
    `the database's encoding is ${encoding}, which cannot store every text`,
    { hint: "use a database with encoding UTF8" },
  );
}
