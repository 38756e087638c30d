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
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type DatabaseSyncOptions as DatabaseOptions } from "@photostructure/sqlite";
import type { Rate } from "../../core/options.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { busyTimeoutMs, type Database, transact } from "../sqlite.js";
import { isBusy, isCorrupt, storeFault } from "../store-fault.js";
import {
  createEntries,
  inMemory,
  type QuotaUse,
  refuseDamaged,
  reserveIn,
  sealEntries,
  settleIn,
  useOf,
} from "./quota-entries.js";
import { quotaName, type QuotaStore, type Reservation, type ReserveOptions } from "./quota.js";

export interface QuotaLocation {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME). */
  readonly stateFolder: string;
  /** Called about damage, and while the count cannot be written. */
  readonly onWarning: (message: string) => void;
}

/** A quota of all endpoints together, or of one. */
export interface ScopedQuota {
  readonly scope: string;
  readonly rate: Rate;
}

/** Retry interval, and failed tries before the warning that another process holds the lock. */
const busy = { retryMs: 250, triesBeforeWarning: 20 };

/** How long a reader, or a process that settles, waits for another's lock, in milliseconds. */
const patienceMs = 2_000;

/** Longest time a reservation can end after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/**
 * Counts quotas in a small SQLite file per service, shared by all processes that use the folder. A
 * change is on disk before the requests it counts are sent. A killed process leaves its reservation
 * counted in full.
 *
 * If the file is damaged, every quota counts as used up at the file's last write: no quota is
 * exceeded, and runs continue by themselves once the windows are over.
 */
export class FileQuotaStore implements QuotaStore {
  readonly #location: QuotaLocation;
  readonly #path: string;
  #failedTries = 0;

  /** @throws the SQLite or system error if the folder cannot be read or written */
  constructor(location: QuotaLocation) {
    this.#path = quotaPath(location);
    this.#location = location;
    try {
      this.#apply(busyTimeoutMs, () => undefined);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  /**
   * While the count cannot be written, no request is permitted. Returns a promise so that requests
   * are sent between two writes, which may be slow.
   */
  reserve(name: string, options: ReserveOptions): Promise<Reservation> {
    const reserved = this.#change(busyTimeoutMs, (database) =>
      reserveIn(database, name, options, randomUUID()),
    );
    const nextAtMs = options.nowMs + busy.retryMs;
    return Promise.resolve(reserved ?? { permits: 0, id: "", nextAtMs, busy: true });
  }

  /** A reservation that cannot be settled stays counted in full. */
  settle(name: string, id: string, used: number, nowMs: number): void {
    this.#change(patienceMs, (database) => settleIn(database, name, id, used, nowMs));
  }

  /** Changes the counts; null if another process holds the lock for too long, or the disk fails. */
  #change<T>(timeout: number, change: (database: Database) => T): T | null {
    try {
      const changed = this.#apply(timeout, change);
      this.#failedTries = 0;
      return changed;
    } catch (error) {
      if (++this.#failedTries === (isBusy(error) ? busy.triesBeforeWarning : 1)) {
        this.#location.onWarning(
          `cannot write the quota count ${this.#path}: ${storeFault(error)}; sending nothing until it can be written`,
        );
      }
      return null;
    }
  }

  #apply<T>(timeout: number, change: (database: Database) => T): T {
    try {
      return changeFile(this.#path, timeout, change);
    } catch (error) {
      if (!isCorrupt(this.#path, error)) throw error;
      createFile(this.#path, lostAt(this.#path, this.#location));
      return changeFile(this.#path, timeout, change);
    }
  }
}

/** How much of each quota is used; nothing of those in an unreadable file, with a warning. */
export function readQuotas(
  location: QuotaLocation,
  quotas: readonly ScopedQuota[],
  nowMs: number,
): readonly QuotaUse[] {
  const path = quotaPath(location);
  const read = (database: Database): readonly QuotaUse[] =>
    quotas.map(({ scope, rate }) => useOf(database, quotaName(scope, rate), { rate, nowMs }));
  let lostMs: number | null = null;
  try {
    if (existsSync(path)) {
      accessSync(path, constants.R_OK);
      return withDatabase(path, { readOnly: true, timeout: patienceMs }, (database) => {
        refuseDamaged(database);
        return read(database);
      });
    }
  } catch (error) {
    if (isCorrupt(path, error)) lostMs = lostAt(path, location);
    else {
      location.onWarning(`cannot read the quota count in ${dirname(path)}: ${storeFault(error)}`);
    }
  }
  return read(inMemory(lostMs));
}

export function quotaFolder(stateFolder: string): string {
  return join(stateFolder, "quota");
}

/** The file that holds a service's counts. Spellings of the same address share one. */
export function quotaPath({ stateFolder, service }: Omit<QuotaLocation, "onWarning">): string {
  // Normalized and without user name, password and query, which may be secrets.
  const { hostname, origin, pathname } = new URL(service);
  const address = origin + pathname.replace(/\/+$/, "");
  const host = hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  return join(quotaFolder(stateFolder), `${host}-${hash("sha256", address).slice(0, 16)}.db`);
}

/** When the quotas of a damaged file count as used up. */
function lostAt(path: string, { onWarning }: QuotaLocation): number {
  const writtenMs = statSync(path).mtimeMs;
  const at = new Date(writtenMs).toISOString().replace(/\.\d+Z$/, "Z");
  onWarning(
    `the quota count ${path} is damaged or of another version of repute: every quota of the service counts as used up at ${at}; ` +
      "delete the file to count from 0",
  );
  return writtenMs + longestReservationMs;
}

/**
 * Changes the counts in a file, in one transaction that is on disk when this returns. Creates folder
 * and file with owner-only permissions if missing.
 * @throws the SQLite or system error
 */
function changeFile<T>(path: string, timeout: number, change: (database: Database) => T): T {
  makeFolder(dirname(path), 0o700);
  // SQLite only reports that it cannot open the file; this gives the system's reason.
  accessSync(dirname(path), constants.W_OK);
  if (!existsSync(path)) createFile(path, null);
  accessSync(path, constants.R_OK | constants.W_OK);
  return withDatabase(path, { timeout }, (database) =>
    transact(database, () => {
      refuseDamaged(database);
      const changed = change(database);
      sealEntries(database);
      return changed;
    }),
  );
}

/**
 * Creates a file. It appears complete, so an empty file always means damage.
 * @param lostMs when the counts of the damaged file that it replaces were lost; null keeps a file
 *   that another process created meanwhile
 */
function createFile(path: string, lostMs: number | null): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    closeSync(openSync(fresh, "wx", 0o600));
    withDatabase(fresh, {}, (database) =>
      transact(database, () => {
        createEntries(database, lostMs);
        sealEntries(database);
      }),
    );
    if (lostMs === null) linkSync(fresh, path);
    else {
      // Otherwise SQLite would roll the damaged file's transaction back into the new one.
      rmSync(`${path}-journal`, { force: true });
      renameSync(fresh, path);
    }
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

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
