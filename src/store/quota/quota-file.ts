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
import { blockingMs, type Database, transact } from "../sqlite.js";
import { isDamage } from "../store-fault.js";
import type { QuotaEntry } from "./quota-store.js";

/** What is counted for one service. */
export interface QuotaCounts {
  /** Name of a quota → what was taken from it. */
  readonly quotas: Readonly<Record<string, readonly QuotaEntry[]>>;
  /**
   * When a damaged count was found, in milliseconds since 1970; null when none was. Every quota that
   * is not in `quotas` counts as used up at that moment.
   */
  readonly lostMs: number | null;
}

/** More than any quota. */
const everything = Number.MAX_SAFE_INTEGER;

export const nothingCounted: QuotaCounts = { quotas: {}, lostMs: null };

/** What was taken from a quota. */
export function entriesOf({ quotas, lostMs }: QuotaCounts, name: string): readonly QuotaEntry[] {
  const found = Object.hasOwn(quotas, name) ? quotas[name] : undefined;
  if (found !== undefined) return found;
  return lostMs === null ? [] : [{ permits: everything, lastMs: lostMs }];
}

/** Name of the file that holds a service's counts. Addresses of the same service share one. */
export function quotaFileName(service: string): string {
  // One spelling, without what may be a secret: user name, password, query.
  const { hostname, origin, pathname } = new URL(service);
  const address = origin + pathname.replace(/\/+$/, "");
  const host = hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  return `${host}-${hash("sha256", address).slice(0, 16)}.db`;
}

/** A quota file is damaged, or was not written by this version. */
class DamagedCounts extends Error {}

/** Whether a file cannot be used as the count that it should be. */
export function isLost(error: unknown): boolean {
  return error instanceof DamagedCounts || isDamage(error);
}

/**
 * Reads what a quota file counts.
 *
 * @returns null when there is none
 * @throws what SQLite or the system says; see `isLost`
 */
export function readQuotaFile(path: string): QuotaCounts | null {
  if (!existsSync(path)) return null;
  accessSync(path, constants.R_OK);
  return within(path, { readOnly: true, timeout: readingMs }, read);
}

/**
 * Changes what a quota file counts, in one transaction that is on the disk when this returns. Makes
 * folder and file, readable by their owner alone, when they are absent.
 *
 * @throws what SQLite or the system says; see `isBusy` and `isLost`
 */
export function changeQuotaFile(path: string, change: (counts: QuotaCounts) => QuotaCounts): void {
  makeFolder(dirname(path), 0o700);
  // SQLite says only that it cannot open a file, the system says why.
  accessSync(dirname(path), constants.W_OK);
  if (!existsSync(path)) makeQuotaFile(path, nothingCounted, "new");
  accessSync(path, constants.R_OK | constants.W_OK);
  within(path, { timeout: blockingMs }, (database) =>
    transact(database, () => write(database, change(read(database)))),
  );
}

/**
 * Makes a quota file. It is whole when it appears, so that an empty one is one that was damaged.
 *
 * @param as what it may take the place of: nothing, or a file whose counts are lost
 */
export function makeQuotaFile(path: string, counts: QuotaCounts, as: "new" | "replacement"): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    closeSync(openSync(fresh, "wx", 0o600));
    within(fresh, {}, (database) =>
      transact(database, () => {
        database.exec(schema);
        write(database, counts);
      }),
    );
    if (as === "replacement") {
      // A transaction of the lost file must not be rolled back in the new one.
      rmSync(`${path}-journal`, { force: true });
      renameSync(fresh, path);
    } else linkSync(fresh, path);
  } catch (error) {
    // Another process has made it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Counts up when the file is laid out differently. */
const format = 2;

/** The counts of a service are one record, so that none of them can be lost without a trace. */
const schema = `
  CREATE TABLE counts (sealed TEXT NOT NULL) STRICT;
  INSERT INTO counts VALUES ('');
  PRAGMA user_version = ${format};`;

/** How long a reader waits for a writer, in milliseconds; a transaction takes a few. */
const readingMs = 2_000;

/** Works with an open file. Without a write-ahead log nothing beside it can be lost or damaged. */
function within<T>(path: string, options: DatabaseOptions, work: (database: Database) => T): T {
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

/** The only value of a query's first row; undefined when it has none. */
function valueOf(database: Database, query: string): unknown {
  return Object.values((database.prepare(query).get() ?? {}) as object)[0];
}
