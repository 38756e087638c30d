import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { isBusy } from "./store-fault.js";

export type Database = DatabaseSyncInstance;

/**
 * SQLite busy timeout in milliseconds. SQLite waits synchronously, so this blocks the event loop.
 */
export const busyTimeoutMs = 100;

/** Total time to wait for a lock held by another process, in milliseconds. */
export const lockTimeoutMs = 10_000;

/**
 * Opens a SQLite database and runs `setUp`, retrying while another process holds the lock.
 * @param setUp runs the first statements
 * @throws the SQLite error
 */
export async function openDatabase<T>(
  path: string,
  setUp: (database: Database) => T,
): Promise<{ readonly database: Database; readonly result: T }> {
  const until = performance.now() + lockTimeoutMs;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      return { database, result: setUp(database) };
    } catch (error) {
      database.close();
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await delay(20);
  }
}

/**
 * Closes a database. The driver keeps the files open until its prepared statements are garbage
 * collected or the process ends, so the write-ahead log is checkpointed here.
 */
export function closeDatabase(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // The log is still intact and the next reader uses it.
  }
  database.close();
}

export function transact<T>(database: Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has already rolled back after errors that end the transaction.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
