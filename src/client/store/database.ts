import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from "@photostructure/sqlite";
import { faultReason } from "../../core/files/system-fault.js";

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

/**
 * SQLite busy timeout in milliseconds. SQLite waits synchronously, so this blocks the event loop.
 */
export const busyTimeoutMs = 100;

/** Total time to wait for a lock held by another process, in milliseconds. */
export const lockTimeoutMs = 10_000;

interface StoreLayout {
  /** Version of the tables and of what is in them. Increase when either changes. */
  readonly version: number;
  /** Creates the tables. */
  readonly schema: string;
  /** Keeps all other processes out until the database is closed. @default false */
  readonly alone?: boolean;
}

/**
 * Opens a file of answers, creating it if missing: a write-ahead log, which is synced only when it
 * moves into the file, so a power loss costs the latest transactions and never damages the file.
 *
 * @returns null if another version of repute wrote the file, which stays as it is
 * @throws the SQLite or system error; `isBusy` if another process has it alone
 */
export async function openStore(path: string, layout: StoreLayout): Promise<Database | null> {
  createPrivate(path);
  const until = performance.now() + (layout.alone === true ? busyTimeoutMs : lockTimeoutMs);
  for (;;) {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      if (isSetUp(database, layout)) return database;
      database.close();
      return null;
    } catch (error) {
      database.close();
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await delay(20);
  }
}

/** Prepares a connection, and a new file. @returns false for a file of another version */
function isSetUp(database: Database, { version, schema, alone = false }: StoreLayout): boolean {
  const found = (): number => Number(pragma(database, "user_version"));
  // Large pages hold more answers in less space; few of them change at once without an index.
  if (alone) database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192");
  if (found() !== 0 && found() !== version) return false;
  const journal = pragma(database, "journal_mode = WAL");
  if (journal !== "wal") throw Object.assign(new Error(noLocks), { errcode: codes.protocol });
  database.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = ${logBytes / Number(pragma(database, "page_size"))};
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;`);
  if (found() === version) return true;
  transact(database, () => {
    // Another process may have created them meanwhile.
    if (found() === 0) database.exec(`${schema} PRAGMA user_version = ${version};`);
  });
  return found() === version;
}

/** Length of the log at which it moves into the file: 32 MiB. */
const logBytes = 32 * 1024 * 1024;

/** Says what is wrong with a database's structure; null for nothing. */
export function structuralDamage(database: Database): string | null {
  const found = pragma(database, "quick_check(1)");
  return found === "ok" ? null : String(found).replaceAll(/\s+/g, " ");
}

function pragma(database: Database, name: string): unknown {
  const row = database.prepare(`PRAGMA ${name}`).get() as Record<string, unknown> | undefined;
  return Object.values(row ?? {})[0];
}

/** Creates a file that only its owner can read, as those that SQLite puts beside it then are. */
function createPrivate(path: string): void {
  // SQLite only reports that it cannot open the file; this gives the system's reason.
  accessSync(dirname(path), constants.W_OK);
  // Never opens a file that exists: closing it would release this process's locks on it
  // (https://www.sqlite.org/howtocorrupt.html#posix_close_bug).
  if (existsSync(path)) return accessSync(path, constants.R_OK | constants.W_OK);
  closeSync(openSync(path, "wx", 0o600));
}

/**
 * Closes a database. The driver keeps its files open and locked until its prepared statements are
 * garbage collected or the process ends, so the log moves into the file and the lock is given up here.
 */
export function closeDatabase(database: Database, alone = false): void {
  try {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    if (alone) unlock(database);
  } catch {
    // The log is still intact and the next reader uses it.
  }
  database.close();
}

/** An exclusive lock can only be released once the write-ahead log is gone. */
function unlock(database: Database): void {
  try {
    database.exec("PRAGMA journal_mode = DELETE");
  } catch {
    // In a folder that was moved or cannot be written any more, no other file can be made.
    database.exec("PRAGMA journal_mode = MEMORY");
  }
  database.exec("PRAGMA locking_mode = NORMAL");
  pragma(database, "user_version");
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

/** The table of facts: JSON by name, each with a checksum, which SQLite's pages don't have. */
export const factsSchema = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;`;

/** @throws an error of SQLite's code for damage */
export function readFact(database: Database, name: string): unknown {
  const found = database.prepare("SELECT value, checksum FROM facts WHERE name = ?").get(name);
  if (found === undefined) return null;
  const { value, checksum } = found as { readonly value: string; readonly checksum: number };
  if (checksum === crc32(`${name} ${value}`)) return JSON.parse(value);
  throw corrupt(`its ${name} has a wrong checksum`);
}

/** Writes a fact; null forgets it. */
export function writeFact(database: Database, name: string, value: object | null): void {
  if (value === null) {
    database.prepare("DELETE FROM facts WHERE name = ?").run(name);
    return;
  }
  const text = JSON.stringify(value);
  const insert = database.prepare("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)");
  insert.run(name, text, crc32(`${name} ${text}`));
}

/** Another process holds the lock; a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === codes.busy;
}

/**
 * The file is damaged. A rejected statement (code 1) or value means that its tables have changed; a
 * file that is writable but read-only to SQLite has a header of an unknown version.
 */
export function isCorrupt(path: string, error: unknown): boolean {
  const code = codeOf(error);
  if (code !== codes.readOnly) return damaged.has(code);
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The error for content that cannot be what was written. */
export function corrupt(what: string): Error {
  return Object.assign(new Error(what), { errcode: codes.corrupt });
}

/** Why SQLite or the system refused an operation, as the end of a sentence. */
export function storeFault(error: unknown): string {
  if (isBusy(error)) return "another process has locked it for too long";
  return lacksLocks(error) ? noLocks : faultReason(systemError(error));
}

/** The system's error for one of SQLite's, where they mean the same. */
export function systemError(error: unknown): unknown {
  const code = errnos[codeOf(error) ?? 0];
  return code === undefined ? error : Object.assign(new Error(code, { cause: error }), { code });
}

/** The file system lacks what SQLite needs. */
export function lacksLocks(error: unknown): boolean {
  return codeOf(error) === codes.protocol;
}

const noLocks = "SQLite needs a file system with locks and shared memory";

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const codes = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  protocol: 15,
  constraint: 19,
  mismatch: 20,
  notDatabase: 26,
} as const;

const damaged: ReadonlySet<number | null> = new Set([
  codes.corrupt,
  codes.notDatabase,
  codes.error,
  codes.constraint,
  codes.mismatch,
]);

const errnos: Readonly<Record<number, string>> = {
  [codes.readOnly]: "EROFS",
  [codes.ioError]: "EIO",
  [codes.full]: "ENOSPC",
};

/** Extended codes for locks and shared memory that a file system lacks. */
const lockFaults: ReadonlySet<number> = new Set([2058, 2314, 3594, 3850, 4618, 5130, 5386]);

/** SQLITE_IOERR_SHMSIZE: no space for shared memory. */
const shmSize = 4874;

/** SQLite's primary result code; null for any other error. */
function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  if (typeof errcode !== "number") return null;
  if (errcode === shmSize) return codes.full;
  return lockFaults.has(errcode) ? codes.protocol : errcode & 0xff;
}
