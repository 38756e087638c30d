import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { FatalError, ReputeError } from "../../core/errors.js";
import { lookupEndpoints } from "../../core/finding.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { type Database, openDatabase } from "../sqlite.js";
import { isDamage, systemFault } from "../store-fault.js";

export interface CacheFileOptions {
  /** Nothing is made, and nothing begun anew. @default false */
  readonly readOnly?: boolean | undefined;
  /** Told what becomes of a file that this version does not read. */
  readonly onWarning: (message: string) => void;
}

/** One column for each endpoint, so that one read has all answers about an item. */
export const columns = lookupEndpoints.map((endpoint) => `"${endpoint}"`);

/** Counts up when tables or entries are laid out differently. */
const format = 1;

/**
 * Rows lie in the order in which they were written, so that a run over the same input reads the file
 * front to back. Pages of 16 KiB halve the cost of those of 4 KiB: a row has about 2.5 KiB.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS answers (
    n INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL UNIQUE,
    ${columns.map((column) => `${column} TEXT`).join(", ")}
  ) STRICT;
  PRAGMA user_version = ${format};`;

/** The cache's files are in a folder of their own, so that they can be removed in one step. */
function folderIn(cache: string): string {
  return join(cache, "answers");
}

function pathIn(cache: string): string {
  return join(folderIn(cache), "answers.db");
}

/** Whether a folder has a cache, of whatever version. */
export function hasCache(cache: string): boolean {
  return existsSync(folderIn(cache));
}

/** Size of a cache's files in bytes. */
export function bytesOf(cache: string): number {
  return ["", "-wal"]
    .map((suffix) => statSync(pathIn(cache) + suffix, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size);
}

/**
 * Opens the cache in a folder, a new one where there is none. One of another version is removed.
 *
 * @returns null only with `readOnly`, when there is none that this version reads
 * @throws FatalError `cache_damaged`, or what SQLite or the system says
 */
export async function openCacheFile(
  cache: string,
  options: CacheFileOptions,
): Promise<Database | null> {
  const { readOnly = false, onWarning } = options;
  if (readOnly && !existsSync(pathIn(cache))) return null;
  if (!readOnly) prepareFolder(cache, onWarning);
  const { database, result: found } = await openDatabase(pathIn(cache), setUp);
  if (found === format) return database;
  database.close();
  const what = `another version of repute wrote the cache ${cache}`;
  if (readOnly) {
    onWarning(`${what}; a run begins it anew`);
    return null;
  }
  onWarning(`${what}; it is begun anew`);
  removeCache(cache);
  return openCacheFile(cache, options);
}

/** Removes a cache's files. Processes that have them open continue with what nobody else sees. */
export function removeCache(cache: string): void {
  const aside = `${folderIn(cache)}.${randomUUID()}`;
  renameSync(folderIn(cache), aside);
  rmSync(aside, { recursive: true, force: true });
}

/** Whether the disk has room for so many bytes and some for others. */
export function hasSpace(cache: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(folderIn(cache));
  return bavail * bsize >= reserve + bytes;
}

/** What the cache leaves to others, in bytes. */
const reserve = 8 * 1024 * 1024;

/** Says why a cache cannot be used, and what can be done about it. */
export function cacheFault(
  cache: string,
  doing: "open" | "read" | "write",
  error: unknown,
): ReputeError {
  if (error instanceof ReputeError) return error;
  if (isDamage(error)) {
    return new FatalError("cache_damaged", `the cache ${cache} is damaged: ${systemFault(error)}`, {
      cause: error,
      hint: `remove it with repute cache clear ${cache}`,
    });
  }
  const message = `cannot ${doing} the cache ${cache}: ${systemFault(error)}`;
  return new FatalError("cache_unusable", message, { cause: error });
}

/** Returns the version of the file. */
function setUp(database: Database): number {
  const found = versionOf(database);
  if (found !== 0 && found !== format) return found;
  // The log is written into the file 32 MiB at a time; only then does a loss of power matter.
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

/** Makes folder and file for their owner alone. SQLite's own files take the mode of the first. */
function prepareFolder(cache: string, onWarning: (message: string) => void): void {
  const [folder, path] = [folderIn(cache), pathIn(cache)];
  const earlier = join(cache, "findings");
  if (!existsSync(folder) && existsSync(join(earlier, "entries", "data.mdb"))) {
    onWarning(
      `${earlier} holds answers of an earlier version of repute, which this one does not use; ` +
        "delete it to free the space",
    );
  }
  makeFolder(folder, 0o700);
  chmodSync(folder, 0o700);
  // SQLite says only that it cannot open a file, the system says why.
  accessSync(folder, constants.W_OK);
  if (existsSync(path)) {
    // To open and close it would release the locks that this process has on it.
    accessSync(path, constants.R_OK | constants.W_OK);
    return;
  }
  if (!hasSpace(cache, 0)) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  closeSync(openSync(path, "a", 0o600));
}
