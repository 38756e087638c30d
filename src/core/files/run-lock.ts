import { writeFileSync } from "node:fs";
import { UsageError } from "../errors.js";
import { privateFile } from "./folders.js";

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
  const database = new DatabaseSync(path);
  try {
    // Nothing is written, so there is nothing that a journal file could restore.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    const { errcode } = error as { readonly errcode?: number };
    throw errcode === sqliteBusy ? outputLocked() : error;
  }
}

export function outputLocked(): UsageError {
  return new UsageError("output_locked", "another run is writing this output", {
    hint: "wait for it, or write elsewhere",
  });
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

/** https://www.sqlite.org/rescode.html */
const sqliteBusy = 5;
