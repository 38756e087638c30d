import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { isBusy } from "./store-fault.js";

export type Database = DatabaseSyncInstance;

/** How long SQLite itself waits for another process, which blocks this one, in milliseconds. */
export const blockingMs = 100;

/** How long a lock that another process holds is waited for in all, in milliseconds. */
export const patienceMs = 10_000;

/**
 * Opens a SQLite database and sets it up, waiting while other processes do the same.
 *
 * @param setUp runs the first statements
 * @throws what SQLite says
 */
export async function openDatabase<T>(
  path: string,
  setUp: (database: Database) => T,
): Promise<{ readonly database: Database; readonly result: T }> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: blockingMs });
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
 * Closes a database. The driver lets go of the files only when its prepared statements are collected
 * as garbage, or the process ends; so the log is moved into the database here.
 */
export function closeDatabase(database: Database): void {
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // What is in the log is read from there.
  }
  database.close();
}

/** Does something in one transaction that writes. */
export function transact<T>(database: Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite has rolled back by itself where it cannot go on.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
