import { existsSync, writeFileSync } from "node:fs";
import { UsageError } from "../errors.js";
import { privateFile } from "./folders.js";

/** How long to wait for a process that only looks whether a lock is taken, in milliseconds. */
const patienceMs = 10;

/**
 * Keeps two processes from writing the same output, on any file system with POSIX locks. The system
 * frees the lock of a process that dies. The file is empty, and stays: a lock on a file that was
 * removed keeps nobody out.
 *
 * @throws UsageError `output_locked`; the system's error
 */
export async function takeLock(path: string): Promise<() => void> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  createFile(path);
  const database = new DatabaseSync(path, { timeout: patienceMs });
  try {
    // Nothing is written, so there is nothing that a journal file could restore.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    throw isBusy(error) ? outputLocked() : error;
  }
}

export function outputLocked(): UsageError {
  return new UsageError("output_locked", "another run is writing this output", {
    hint: "wait for it, or write elsewhere",
  });
}

/** Whether a process has a SQLite file for itself: such a lock, or the database of a run. */
export async function isLocked(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const database = new DatabaseSync(path, { readOnly: true, timeout: patienceMs });
  try {
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    database.close();
  }
}

/** Creates a missing file. SQLite would hide the system's reason for a failure. */
function createFile(path: string): void {
  try {
    // Never opens an existing file: closing it would free the lock that this process may hold.
    writeFileSync(path, "", { flag: "wx", ...privateFile });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** SQLITE_BUSY (https://www.sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return (error as { readonly errcode?: number }).errcode === 5;
}
