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
import { makeFolder } from "../../../core/files/folders.js";
import { type Database, openDatabase, transact } from "../sqlite.js";
import { isCorrupt, storeFault, isBusy } from "../store-fault.js";
import { setImmediate as turn } from "node:timers/promises";
import { answerKinds, entryParts, entryTime, lifetimeMs } from "./cache-entry.js";

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
 * Creates the folder and file with owner-only permissions. SQLite gives its other files the same.
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

const dayMs = 86_400_000;

/** Rows per transaction; other processes write in between. */
const batchRows = 5_000;

/**
 * Deletes expired answers, at most once a day. What the run with the longest TTL since the last time
 * would use stays. The file keeps its size; new answers reuse the space.
 *
 * @param ttlMs lifetime of full answers in milliseconds
 * @param now milliseconds since 1970
 * @throws the SQLite error
 */
export async function pruneCache(database: Database, ttlMs: number, now: number): Promise<void> {
  try {
    const longest = longestTtl(database, ttlMs, now);
    if (longest === null) return;
    const { first, last } = database.prepare(range).get() as Record<"first" | "last", number>;
    const rows = `DELETE FROM answers WHERE n BETWEEN ? AND ? AND NOT (${fresh(longest, now)})`;
    const remove = database.prepare(rows);
    for (let n = first; n <= last; n += batchRows) {
      transact(database, () => remove.run(n, n + batchRows - 1));
      await turn();
    }
  } catch (error) {
    // Another process holds the lock; pruning can wait for another day.
    if (!isBusy(error)) throw error;
  }
}

const range = "SELECT coalesce(min(n), 0) first, coalesce(max(n), -1) last FROM answers";

/** The longest TTL since the last pruning, which becomes now; null if that was less than a day ago. */
function longestTtl(database: Database, ttlMs: number, now: number): number | null {
  const select = database.prepare("SELECT pruned_at, longest_ttl FROM upkeep");
  const read = () => select.get() as Record<"pruned_at" | "longest_ttl", number>;
  const isRecent = ({ pruned_at }: ReturnType<typeof read>) => Math.abs(now - pruned_at) < dayMs;
  const before = read();
  if (isRecent(before) && ttlMs <= before.longest_ttl) return null;
  return transact(database, () => {
    const upkeep = read();
    const longest = Math.max(ttlMs, upkeep.longest_ttl);
    const next = isRecent(upkeep) ? [upkeep.pruned_at, longest] : [now, ttlMs];
    database.prepare("UPDATE upkeep SET pruned_at = ?, longest_ttl = ?").run(...next);
    return isRecent(upkeep) ? null : longest;
  });
}

/** Whether a row has an answer that a run would use: see `isFresh`. */
function fresh(ttlMs: number, now: number): string {
  const part = (slot: string, { from, to }: { readonly from: number; readonly to: number }) =>
    `substr(${slot}, ${from + 1}, ${to - from})`;
  const conditions = slotNames.flatMap((slot) =>
    answerKinds.map((kind) => {
      const [lifetime, time] = [lifetimeMs(kind, ttlMs), part(slot, entryParts.time)];
      const [after, before] = [now - lifetime, now + lifetime].map(entryTime);
      const is = `${part(slot, entryParts.kind)} = '${kind.charAt(0)}'`;
      return `(${slot} IS NOT NULL AND ${is} AND ${time} > '${after}' AND ${time} < '${before}')`;
    }),
  );
  return conditions.join(" OR ");
}
