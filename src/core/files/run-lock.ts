import { closeSync, existsSync, futimesSync, openSync, rmSync, statSync } from "node:fs";
import type * as Sqlite from "@photostructure/sqlite";
import { UsageError } from "../errors.js";

export type Unlock = () => Promise<void>;

/** How long to wait for a process that only looks whether a lock is taken, in milliseconds. */
const patienceMs = 10;

/**
 * Keeps two runs from writing the same output, on any file system with POSIX locks. The system frees
 * the lock of a process that dies.
 *
 * @throws UsageError `output_locked`; the system's error
 */
export async function takeLock(path: string): Promise<Unlock> {
  const sqlite = await loadSqlite();
  let taken: Unlock | null = null;
  // Repeated if another process removes the file, with its lock, meanwhile.
  while (taken === null) taken = tryLock(path, sqlite);
  return taken;
}

/** Whether a process has a SQLite file for itself: such a lock, or the database of a run. */
export async function isLocked(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path, { readOnly: true, timeout: patienceMs });
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return (error as { readonly errcode?: number }).errcode === busyCode;
  } finally {
    database.close();
  }
}

/** Null if the locked file is no longer the one at `path`. */
function tryLock(path: string, sqlite: typeof Sqlite): Unlock | null {
  createFile(path);
  const identity = identityOf(path);
  const lock = lockFile(path, sqlite);
  if (lock === null) {
    throw new UsageError("output_locked", "another run is writing this output", {
      hint: "wait for it, or write elsewhere",
    });
  }
  const isMine = (): boolean => identity !== null && identityOf(path) === identity;
  if (!isMine()) {
    lock.close();
    return null;
  }
  return () => {
    // Its folder may be gone, and another run at work there.
    if (isMine()) removeIfAllowed(path);
    lock.close();
    return Promise.resolve();
  };
}

/** Removes a file, unless its folder cannot be written any more: what stays locks nothing. */
function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The run has failed to write there, and says so.
  }
}

/** Creates a missing file. SQLite would hide the system's reason for a failure. */
function createFile(path: string): void {
  try {
    // Never opens an existing file: closing it would free the lock that this process may hold.
    const handle = openSync(path, "wx", 0o600);
    // Inode numbers are reused; a random time distinguishes this file from the next one.
    futimesSync(handle, 0, Math.random() * 2 ** 31);
    closeSync(handle);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Identifies a file among all that ever have the same path; null without one. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? null : `${facts.ino} ${facts.mtimeMs}`;
}

/** Locks a file, which stays empty; null if another process holds it. */
function lockFile(
  path: string,
  { DatabaseSync }: typeof Sqlite,
): Sqlite.DatabaseSyncInstance | null {
  const database = new DatabaseSync(path, { timeout: patienceMs });
  try {
    // Nothing is written, so there is nothing that a journal file could restore.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    if ((error as { readonly errcode?: number }).errcode === busyCode) return null;
    throw error;
  }
}

function loadSqlite(): Promise<typeof Sqlite> {
  return import("@photostructure/sqlite");
}

/** SQLITE_BUSY (https://www.sqlite.org/rescode.html). */
const busyCode = 5;
