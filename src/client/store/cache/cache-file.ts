import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { FatalError, ReputeError } from "../../../core/errors.js";
import { lookupEndpoints } from "../../../core/finding.js";
import { makeFolder } from "../../../core/files/make-folder.js";
import { type Database, openDatabase } from "../sqlite.js";
import { isCorrupt, storeFault } from "../store-fault.js";

interface CacheFileOptions {
  /** Never create files. @default false */
  readonly readOnly?: boolean | undefined;
}

/** One column per endpoint, so that one read returns all answers about an item. */
export const slotNames = lookupEndpoints.map((endpoint) => `"${endpoint}"`);

/** File format version. Increase when the layout of tables or entries changes. */
const format = 2;

/**
 * Rows are stored in insertion order, so that a run over the same input reads the file front to
 * back. A row is about 2.5 KiB; 16 KiB pages halve the read cost of 4 KiB pages.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS answers (
    n INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL UNIQUE,
    ${slotNames.map((column) => `${column} TEXT`).join(", ")}
  ) STRICT;
  CREATE TABLE IF NOT EXISTS upkeep (pruned_at INTEGER NOT NULL, longest_ttl INTEGER NOT NULL) STRICT;
  INSERT INTO upkeep VALUES (0, 0);
  PRAGMA user_version = ${format};`;

/** The cache's files have a folder of their own, which can be deleted at any time. */
function folderIn(cache: string): string {
  return join(cache, "answers");
}

function pathIn(cache: string): string {
  return join(folderIn(cache), "answers.db");
}

export function cacheBytes(cache: string): number {
  return ["", "-wal"]
    .map((suffix) => statSync(pathIn(cache) + suffix, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size);
}

/**
 * Opens the cache in a folder, creating it if missing.
 * @returns null only with `readOnly`, if there is none
 * @throws FatalError `cache_format` if another version of repute wrote it, or the SQLite or system error
 */
export async function openCacheFile(
  cache: string,
  { readOnly = false }: CacheFileOptions = {},
): Promise<Database | null> {
  if (readOnly && !existsSync(pathIn(cache))) return null;
  if (!readOnly) prepareFolder(cache);
  const { database, result: found } = await openDatabase(pathIn(cache), setUp);
  if (found === format) return database;
  database.close();
  throw new FatalError("cache_format", `another version of repute wrote the cache ${cache}`, {
    hint: `delete the folder ${folderIn(cache)}`,
  });
}

/** Whether the disk has room for this many bytes plus a reserve. */
export function hasSpace(cache: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(folderIn(cache));
  return bavail * bsize >= reserve + bytes;
}

/** Disk space always left free, in bytes. */
const reserve = 8 * 1024 * 1024;

export function cacheFault(
  cache: string,
  doing: "open" | "read" | "write",
  error: unknown,
): ReputeError {
  if (error instanceof ReputeError) return error;
  if (isCorrupt(pathIn(cache), error)) {
    return new FatalError("cache_damaged", `the cache ${cache} is damaged: ${storeFault(error)}`, {
      cause: error,
      hint: `delete the folder ${folderIn(cache)}`,
    });
  }
  const message = `cannot ${doing} the cache ${cache}: ${storeFault(error)}`;
  return new FatalError("cache_unusable", message, { cause: error });
}

export function warnDisabled(
  { folder, onWarning }: { readonly folder: string; readonly onWarning: (message: string) => void },
  doing: "open" | "read" | "write",
  error: unknown,
): void {
  const { message, hint } = cacheFault(folder, doing, error);
  onWarning(
    `${hint === null ? message : `${message}; ${hint}`}; the run continues without the cache`,
  );
}

/** Returns the file's format version. */
function setUp(database: Database): number {
  const found = versionOf(database);
  if (found !== 0 && found !== format) return found;
  // Only checkpoints (every 32 MiB of log) can be affected by a power loss.
  database.exec(`
    PRAGMA page_size = 16384;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 2048;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;`);
  if (found === 0) database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`);
  return versionOf(database);
}

function versionOf(database: Database): number {
  return (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/**
 * Creates the folder and file with owner-only permissions. SQLite gives its other files the same
 * mode.
 */
function prepareFolder(cache: string): void {
  const [folder, path] = [folderIn(cache), pathIn(cache)];
  makeFolder(folder, 0o700);
  chmodSync(folder, 0o700);
  // SQLite only reports that it cannot open the file; this gives the system's reason.
  accessSync(folder, constants.W_OK);
  if (existsSync(path)) {
    // Don't open the file: closing it would release this process's POSIX locks on it
    // (https://www.sqlite.org/howtocorrupt.html#posix_close_bug).
    accessSync(path, constants.R_OK | constants.W_OK);
    return;
  }
  if (!hasSpace(cache, 0)) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  closeSync(openSync(path, "a", 0o600));
}
