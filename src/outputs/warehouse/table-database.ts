import type { TypedColumn } from "../../formats/typed-column.js";
import type { ColumnBatch } from "./column-batch.js";
import type { TableName } from "./dialect.js";
import type { WarehouseOptions, WarehouseTarget } from "./types.js";

export interface TableTarget extends WarehouseTarget {
  readonly kind: "duckdb" | "postgres";
  readonly table: TableName;
}

/** A database that holds the enriched table. Implement this to support another database. */
export interface TableDatabase {
  /**
   * Runs `work` in one transaction.
   * @param work its second argument is true if an earlier attempt may have been committed although
   *   its confirmation was lost
   * @throws ReputeError; the signal's reason if it aborts waiting for a server
   */
  transaction<T>(work: (session: TableSession, again: boolean) => Promise<T>): Promise<T>;
  /**
   * The rows of a run, by number and size, that must not be written again together with others; none
   * if this is missing.
   */
  largeRows?(
    table: TableName,
    run: SavedRun,
    statuses: readonly string[],
  ): Promise<ReadonlyMap<number, number>>;
  /** Prepares for a transaction that writes rows of this size. */
  expect?(size: LoadSize): Promise<void>;
  /** Keeps the large rows that the last transaction wrote apart from later ones. */
  separate?(table: TableName, run: SavedRun, size: LoadSize): Promise<void>;
  /** Moves committed data to its final place; for files only. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}

/** Rows of one run in a table. */
export interface SavedRun {
  readonly runId: string;
  readonly prefix: string;
}

/** Rows to write, and the characters of text in all their cells. */
export interface LoadSize {
  readonly rows: number;
  readonly characters: number;
}

export interface TableSession {
  readonly query: Query;
  /** Waits for a lock and holds it until the end of the transaction. */
  lock(name: string): Promise<void>;
  /** Finds a table, or another object of that name, with its schema; null if there is none. */
  find(table: TableName): Promise<FoundTable | null>;
  /** The schema for a new table; undefined if there is none. */
  schemaFor(table: TableName): Promise<string | null | undefined>;
  /** A table's columns, in table order. */
  columnsOf(table: TableName): Promise<readonly FoundColumn[]>;
  /** Whether these columns have a unique key; true where it isn't needed. */
  hasKey(table: TableName, key: readonly [string, string]): Promise<boolean>;
  /** Inserts rows. Other columns of the table get their defaults. @returns the number of rows */
  load(
    table: TableName,
    columns: readonly TypedColumn[],
    batches: readonly ColumnBatch[],
  ): Promise<number>;
}

export interface FoundTable {
  readonly schema: string | null;
  /** What it is instead of a table, for messages; null for a table. */
  readonly notTable: string | null;
}

/** A column according to the database's catalogue. */
export interface FoundColumn {
  readonly name: string;
  /** The type as named in the catalogue. */
  readonly type: string;
}

/** Runs a statement with values for `$1`, `$2` … and returns its rows as arrays. */
export type Query = (
  sql: string,
  values?: readonly (string | number | null)[],
) => Promise<readonly (readonly (string | bigint | null)[])[]>;

/** Options for opening a database. */
export interface ConnectOptions extends Pick<WarehouseOptions, "signal" | "clock"> {
  /** Reading requires no write permission. */
  readonly access: "read" | "write";
  readonly onWarning: (message: string) => void;
}
