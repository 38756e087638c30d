import { accessSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
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

/**
 * Opens a SQLite database and runs `setUp`, retrying while another process holds the lock.
 * @param setUp runs the first statements
 * @param patienceMs total time to wait for the lock
 * @throws the SQLite error
 */
export async function openDatabase(
  path: string,
  setUp: (database: Database) => void,
  patienceMs = lockTimeoutMs,
): Promise<Database> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      setUp(database);
      return database;
    } catch (error) {
      database.close();
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
    await delay(20);
  }
}

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
  const { version, schema, alone = false } = layout;
  let found = 0;
  const setUp = (database: Database): void => {
    // Large pages hold more answers in less space; few of them change at once without an index.
    if (alone) database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 8192");
    found = Number(pragma(database, "user_version"));
    if (found !== 0 && found !== version) return;
    const journal = pragma(database, "journal_mode = WAL");
    if (journal !== "wal") throw Object.assign(new Error(noLocks), { errcode: codes.protocol });
    database.exec(`
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${logBytes / Number(pragma(database, "page_size"))};
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;`);
    if (found !== 0) return;
    transact(database, () => {
      found = Number(pragma(database, "user_version"));
      // Another process may have created them meanwhile.
      if (found === 0) database.exec(`${schema} PRAGMA user_version = ${version};`);
    });
    found = Number(pragma(database, "user_version"));
  };
  const database = await openDatabase(path, setUp, alone ? busyTimeoutMs : lockTimeoutMs);
  if (found === version) return database;
  database.close();
  return null;
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
  // In a folder that was moved or cannot be written any more, no other file can be made.
  for (const journal of ["DELETE", "MEMORY"]) {
    try {
      if (pragma(database, `journal_mode = ${journal}`) !== "wal") break;
    } catch {
      continue;
    }
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

/** Another process holds the lock; a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === codes.busy || codeOf(error) === codes.locked;
}

/**
 * The file is damaged. A rejected statement (code 1) or value means that its tables have changed; a
 * file that is writable but read-only to SQLite has a header of an unknown version.
 */
export function isCorrupt(path: string, error: unknown): boolean {
  const code = codeOf(error);
  if (code === codes.readOnly) return isWritable(path);
  return damaged.has(code);
}

/** The error for content that cannot be what was written. */
export function corrupt(what: string): Error {
  return Object.assign(new Error(what), { errcode: codes.corrupt });
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why SQLite or the system refused an operation, as the end of a sentence. */
export function storeFault(error: unknown): string {
  return reasons[codeOf(error) ?? 0] ?? faultReason(systemError(error));
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
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  protocol: 15,
  constraint: 19,
  mismatch: 20,
  notDatabase: 26,
} as const;

const codesByMessage: Readonly<Record<string, number>> = {
  "database is locked": codes.busy,
  "disk I/O error": codes.ioError,
  "database disk image is malformed": codes.corrupt,
  "database or disk is full": codes.full,
  "file is not a database": codes.notDatabase,
};

const damaged: ReadonlySet<number | null> = new Set([
  codes.corrupt,
  codes.notDatabase,
  codes.error,
  codes.constraint,
  codes.mismatch,
]);

/** Extended codes for locks and shared memory that a file system lacks. */
const lockFaults: ReadonlySet<number> = new Set([2058, 2314, 3594, 3850, 4618, 4874, 5130, 5386]);

/** SQLite's primary result code; null for any other error. */
function codeOf(error: unknown): number | null {
  const { errcode: told, message = "" } = (error ?? {}) as Partial<Error & { errcode: unknown }>;
  // Reading several rows fails without a code.
  const errcode = told ?? codesByMessage[message];
  if (typeof errcode !== "number") return null;
  return lockFaults.has(errcode) ? codes.protocol : errcode & 0xff;
}

const reasons: Readonly<Record<number, string>> = {
  [codes.busy]: "another process has locked it for too long",
  [codes.locked]: "another process has locked it for too long",
  [codes.protocol]: noLocks,
};

const errnos: Readonly<Record<number, string>> = {
  [codes.readOnly]: "EROFS",
  [codes.ioError]: "EIO",
  [codes.full]: "ENOSPC",
};
