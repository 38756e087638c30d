import type { ColumnBatch } from "./column-batch.js";
import type { SqlColumn, TableName } from "./dialect.js";
import type { FoundColumn } from "./prepare-table.js";
import type { WarehouseOptions, WarehouseTarget } from "./types.js";

export interface TableTarget extends WarehouseTarget {
  readonly kind: "duckdb" | "postgres";
  readonly table: TableName;
}

/** A database that holds the enriched table: all that a new kind of database has to implement. */
export interface TableDatabase {
  /**
   * Runs a piece of work in one transaction: all of it is there afterwards, or nothing.
   *
   * @param work its second argument is true when an earlier try may have been committed although
   * nobody was told
   * @throws ReputeError; the reason of the signal that ends the waiting for a server
   */
  transaction<T>(work: (session: TableSession, again: boolean) => Promise<T>): Promise<T>;
  /** Puts what was committed where it stays; for files only. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

export interface TableSession {
  readonly query: Query;
  /** Waits until no other transaction has this lock, and holds it until the end of this one. */
  lock(name: string): Promise<void>;
  /** A table, or what else has its name, with the schema that it is in; null for nothing. */
  find(table: TableName): Promise<FoundTable | null>;
  /** The schema of a table that is to be made; undefined where there is none. */
  schemaFor(table: TableName): Promise<string | null | undefined>;
  /** A table's columns, in its order. */
  columnsOf(table: TableName): Promise<readonly FoundColumn[]>;
  /** Whether rows can be told apart by these columns; true where nothing depends on it. */
  hasKey(table: TableName, key: readonly [string, string]): Promise<boolean>;
  /** Adds rows; columns that the table has beside these keep their defaults. @returns how many */
  load(
    table: TableName,
    columns: readonly SqlColumn[],
    batches: readonly ColumnBatch[],
  ): Promise<number>;
}

export interface FoundTable {
  readonly schema: string | null;
  /** What it is instead of a table, as a message says it; null for a table. */
  readonly instead: string | null;
}

/** Runs one statement with values for `$1`, `$2` … and gives its rows as lists of cells. */
export type Query = (
  sql: string,
  values?: readonly (string | number | null)[],
) => Promise<readonly (readonly (string | bigint | null)[])[]>;

/** How a database is opened. */
export interface ConnectOptions extends Pick<WarehouseOptions, "signal" | "clock"> {
  /** Reading needs no write permission. */
  readonly access: "read" | "write";
  readonly onWarning: (message: string) => void;
}
