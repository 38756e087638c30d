import { hash, randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type DatabaseSyncOptions as DatabaseOptions } from "@photostructure/sqlite";
import { makeFolder } from "../../core/files/make-folder.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import { busyTimeoutMs, type Database, transact } from "../sqlite.js";
import { isCorrupt } from "../store-fault.js";
import type { QuotaEntry } from "./quota-store.js";

/** The counts of one service. */
export interface QuotaCounts {
  /** Quota name → its entries. */
  readonly quotas: Readonly<Record<string, readonly QuotaEntry[]>>;
  /**
   * Until when a damaged count blocks its quotas, in milliseconds since 1970; null if none was
   * damaged. Every quota not in `quotas` counts as used up at that moment.
   */
  readonly lostMs: number | null;
}

/** Larger than any quota. */
const exhausted = Number.MAX_SAFE_INTEGER;

export const emptyCounts: QuotaCounts = { quotas: {}, lostMs: null };

/** The entries of a quota. */
export function entriesOf({ quotas, lostMs }: QuotaCounts, name: string): readonly QuotaEntry[] {
  const found = Object.hasOwn(quotas, name) ? quotas[name] : undefined;
  if (found !== undefined) return found;
  return lostMs === null ? [] : [{ permits: exhausted, lastMs: lostMs }];
}

/** Name of the file that holds a service's counts. Spellings of the same address share one. */
export function quotaFileName(service: string): string {
  // Normalized and without user name, password and query, which may be secrets.
  const { hostname, origin, pathname } = new URL(service);
  const address = origin + pathname.replace(/\/+$/, "");
  const host = hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  return `${host}-${hash("sha256", address).slice(0, 16)}.db`;
}

/** A quota file is damaged, or another version wrote it. */
class DamagedCounts extends Error {}

/** Whether the error means that a file's counts are lost. */
export function hasLostCounts(path: string, error: unknown): boolean {
  return error instanceof DamagedCounts || isCorrupt(path, error);
}

/**
 * Reads the counts in a quota file.
 * @returns null if there is no file
 * @throws the SQLite or system error; see `hasLostCounts`
 */
export function readQuotaFile(path: string): QuotaCounts | null {
  if (!existsSync(path)) return null;
  accessSync(path, constants.R_OK);
  return withDatabase(path, { readOnly: true, timeout: readingMs }, read);
}

/**
 * Changes the counts in a quota file, in one transaction that is on disk when this returns. Creates
 * folder and file with owner-only permissions if missing.
 * @throws the SQLite or system error; see `isBusy` and `hasLostCounts`
 */
export function changeQuotaFile(path: string, change: (counts: QuotaCounts) => QuotaCounts): void {
  makeFolder(dirname(path), 0o700);
  // SQLite only reports that it cannot open the file; this gives the system's reason.
  accessSync(dirname(path), constants.W_OK);
  if (!existsSync(path)) makeQuotaFile(path, emptyCounts, "new");
  accessSync(path, constants.R_OK | constants.W_OK);
  withDatabase(path, { timeout: busyTimeoutMs }, (database) =>
    transact(database, () => write(database, change(read(database)))),
  );
}

/**
 * Creates a quota file. It appears complete, so an empty file always means damage.
 * @param as "new" keeps a file that another process created meanwhile, "replacement" overwrites
 */
export function makeQuotaFile(path: string, counts: QuotaCounts, as: "new" | "replacement"): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    closeSync(openSync(fresh, "wx", 0o600));
    withDatabase(fresh, {}, (database) =>
      transact(database, () => {
        database.exec(schema);
        write(database, counts);
      }),
    );
    if (as === "replacement") {
      // Otherwise SQLite would roll the damaged file's transaction back into the new one.
      rmSync(`${path}-journal`, { force: true });
      renameSync(fresh, path);
    } else linkSync(fresh, path);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** File format version. Increase when the layout changes. */
const format = 2;

/** One record holds all counts of a service, so that none can be lost unnoticed. */
const schema = `
  CREATE TABLE counts (sealed TEXT NOT NULL) STRICT;
  INSERT INTO counts VALUES ('');
  PRAGMA user_version = ${format};`;

/** Read timeout in milliseconds; a write transaction takes a few. */
const readingMs = 2_000;

/**
 * Opens a file for the length of `work`. Without a write-ahead log, no second file can be lost or
 * damaged.
 */
function withDatabase<T>(
  path: string,
  options: DatabaseOptions,
  work: (database: Database) => T,
): T {
  const database = new DatabaseSync(path, options);
  try {
    database.exec("PRAGMA synchronous = FULL");
    return work(database);
  } finally {
    database.close();
  }
}

function read(database: Database): QuotaCounts {
  const isKnown = valueOf(database, "PRAGMA user_version") === format;
  const sealed = isKnown ? valueOf(database, "SELECT sealed FROM counts") : null;
  const counts = typeof sealed === "string" ? openSealedJson(sealed) : null;
  if (counts === null) throw new DamagedCounts();
  return counts as unknown as QuotaCounts;
}

function write(database: Database, counts: QuotaCounts): void {
  database.prepare("UPDATE counts SET sealed = ?").run(sealJson(counts));
}

/** The only value of a query's first row; undefined if there is none. */
function valueOf(database: Database, query: string): unknown {
  return Object.values((database.prepare(query).get() ?? {}) as object)[0];
}
