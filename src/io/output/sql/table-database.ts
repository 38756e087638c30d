import { systemClock } from "../../../core/clock.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import type { Stage } from "../stage.js";
import type { Dialect, TableName } from "./dialect.js";
import type { PublisherOptions } from "../publisher.js";

/** A table in messages, and where it is. */
export interface TableTarget {
  readonly dialect: Dialect;
  readonly name: string;
  readonly table: TableName;
  readonly database: string | null;
}

/** A database that holds the enriched table. Implement this to support another database. */
export interface TableDatabase {
  /**
   * Runs `work` in one transaction, again if the connection is lost: also if only the confirmation of
   * its end was.
   *
   * @param end `ROLLBACK` undoes the work, which then was a trial
   * @throws ReputeError; the signal's reason if it aborts waiting for a server
   */
  transaction<T>(
    work: (session: TableSession) => Promise<T>,
    end?: "COMMIT" | "ROLLBACK",
  ): Promise<T>;
  /** Moves committed data to its final place; for files only. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

export interface TableSession {
  readonly dialect: Dialect;
  readonly query: Query;
  /** Waits for a lock and holds it until the end of the transaction; for servers only. */
  lock?(name: string): Promise<void>;
  /** Finds a table, or another object of that name, with its schema; null if there is none. */
  find(table: TableName): Promise<FoundTable | null>;
  columnsOf(table: TableName): Promise<readonly FoundColumn[]>;
  hasKey(table: TableName, key: readonly string[]): Promise<boolean>;
  /** Keeps others from writing to a table until the end of the transaction; for servers only. */
  lockTable?(table: TableName): Promise<void>;
  /**
   * Verifies staged rows and makes them something to select from, with their cells as `cells`. They
   * stay until the end of the transaction.
   *
   * @param stage null for no rows
   * @throws FatalError `output_part_*`
   */
  stagedRows(stage: Stage | null): Promise<string>;
}

export interface FoundTable extends TableName {
  /** What it is instead of a table, for messages; null for a table. */
  readonly notTable: string | null;
}

export interface FoundColumn {
  readonly name: string;
  readonly type: string;
  /** Whether each new row needs a value: the column is NOT NULL, and nothing else fills it. */
  readonly isRequired: boolean;
}

/** Runs a statement with values for `$1`, `$2` … and returns its rows as arrays. */
export type Query = (
  sql: string,
  values?: readonly (string | number | null)[],
) => Promise<readonly (readonly (string | bigint | boolean | null)[])[]>;

export interface ConnectOptions extends Pick<PublisherOptions, "signal" | "clock" | "onWarning"> {
  /** Reading requires no write permission; a check creates no file. */
  readonly access: "read" | "write" | "check";
}

export type Connect = (options: ConnectOptions) => Promise<TableDatabase>;

/**
 * How often to try, a second apart, to open a file to which another run may be publishing: less often
 * at the start of a run, where a person may be waiting.
 */
const attempts = { read: 1, check: 10, write: 60 };

export async function withDatabase<R>(
  connect: Connect,
  options: ConnectOptions,
  use: (database: TableDatabase) => Promise<R>,
): Promise<R> {
  const { access, clock = systemClock, signal } = options;
  let database: TableDatabase | null = null;
  for (let attempt = 1; database === null; attempt++) {
    try {
      database = await connect(options);
    } catch (error) {
      const isLocked = error instanceof FatalError && error.code === "output_locked";
      if (!isLocked || attempt === attempts[access]) throw error;
      await clock.sleep(1_000, signal);
    }
  }
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

export type Selection =
  | { readonly table: TableName }
  /** A single statement that returns rows. */
  | { readonly query: string };

export function severalStatements(): UsageError {
  return new UsageError("bad_query", "the query of the input has several statements", {
    hint: "give a single SELECT",
  });
}

export function queryRefused(said: string, cause?: unknown): UsageError {
  return new UsageError("bad_query", `the database refuses the query: ${said}`, {
    cause,
    hint: "correct the query of the input; it has to be a single SELECT, which writes nothing",
  });
}
