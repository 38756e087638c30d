import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;

/** How long SQLite itself waits for another process, which blocks this one, in milliseconds. */
const blockingMs = 100;

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

/** Another process holds the database; later it may be free. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === codes.busy || codeOf(error) === codes.locked;
}

/** The file is not what was written. */
export function isDamage(error: unknown): boolean {
  return codeOf(error) === codes.corrupt || codeOf(error) === codes.notDatabase;
}

/** What SQLite or the system refused, as the end of a sentence. */
export function systemFault(error: unknown): string {
  const code = codeOf(error) ?? (error as NodeJS.ErrnoException | null)?.code ?? "";
  const text = error instanceof Error ? error.message : String(error);
  return causes[code] ?? text;
}

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const codes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  notDatabase: 26,
} as const;

/** SQLite's primary result code; null for an error of something else. */
function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : null;
}

const causes: Readonly<Record<string | number, string>> = {
  [codes.busy]: "another process has locked it for too long",
  [codes.locked]: "another process has locked it for too long",
  [codes.readOnly]: "it cannot be written",
  [codes.ioError]: "the disk reports an error",
  [codes.full]: "the disk is full",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "it is no folder",
};
