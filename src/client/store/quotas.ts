import { createHash, randomUUID } from "node:crypto";
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
import { crc32 } from "node:zlib";
import { DatabaseSync, type DatabaseSyncOptions as DatabaseOptions } from "@photostructure/sqlite";
import { UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import type { Rate } from "../../core/options.js";
import { serviceAddress } from "./cache-key.js";
import {
  busyTimeoutMs,
  corrupt,
  type Database,
  isBusy,
  isCorrupt,
  storeFault,
  transact,
} from "./database.js";
import { emptyCounts, QuotaCounts, type QuotaState, type QuotaUse } from "./quota-counts.js";
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

/** File format version. Increase when the table or its content changes. */
const version = 7;

/** The counts as JSON, in a single row. */
const schema = `
  CREATE TABLE counts (value TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
  INSERT INTO counts VALUES ('', 0);
  PRAGMA user_version = ${version};`;

/** @throws an error of SQLite's code for damage if the counts are not as this version kept them */
function readCounts(database: Database): QuotaCounts {
  const found = database.prepare("SELECT *, user_version FROM counts, pragma_user_version").get();
  const { value, checksum, user_version } = (found ?? {}) as Readonly<Record<string, unknown>>;
  const isSound = user_version === version && checksum === crc32(String(value));
  if (!isSound) throw corrupt("its counts are damaged");
  return new QuotaCounts(JSON.parse(String(value)) as QuotaState);
}

function writeCounts(database: Database, state: QuotaState): void {
  const value = JSON.stringify(state);
  database.prepare("UPDATE counts SET value = ?, checksum = ?").run(value, crc32(value));
}

/** How long a reader, or a process that settles, waits for another's lock, in milliseconds. */
const patienceMs = 2_000;

/** Longest time a reservation can end after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/** How much of each quota is used; nothing of those in an unreadable file, with a warning. */
export function readQuotas(
  location: QuotaLocation,
  quotas: readonly ScopedQuota[],
  nowMs: number,
): readonly QuotaUse[] {
  const path = quotaPath(location);
  let counts = new QuotaCounts();
  try {
    if (existsSync(path)) {
      accessSync(path, constants.R_OK);
      counts = withDatabase(path, { readOnly: true, timeout: patienceMs }, readCounts);
    }
  } catch (error) {
    if (isCorrupt(path, error)) counts = new QuotaCounts(emptyCounts(lostAt(path, location)));
    else {
      location.onWarning(`cannot read the quota count in ${dirname(path)}: ${storeFault(error)}`);
    }
  }
  return quotas.map(({ scope, rate }) => counts.use(quotaName(scope, rate), { rate, nowMs }));
}

function quotaFolder(stateFolder: string): string {
  return join(stateFolder, "quota");
}

/** The file that holds a service's counts. Spellings of the same address share one. */
export function quotaPath({ stateFolder, service }: Omit<QuotaLocation, "onWarning">): string {
  const address = serviceAddress(service);
  const host = new URL(service).hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  const digest = createHash("sha256").update(address).digest("hex").slice(0, 16);
  return join(quotaFolder(stateFolder), `${host}-${digest}.db`);
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
        database.exec(schema);
        writeCounts(database, emptyCounts(lostMs));
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
 * Opens a file for the length of `work`. A change is on disk when this returns. Without a write-ahead
 * log, no second file can be lost or damaged.
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

/** Retry interval, and failed tries before the warning that another process holds the lock. */
const busy = { retryMs: 250, triesBeforeWarning: 20 };

/**
 * Counts a service's quotas in the user's state folder, or in memory without one.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas(location: QuotaLocation | null): QuotaStore {
  if (location === null) return new QuotaCounts();
  try {
    return new FileQuotaStore(location);
  } catch (error) {
    throw quotaUncounted(`in ${quotaFolder(location.stateFolder)}: ${storeFault(error)}`);
  }
}

/** @param why a clause that follows "cannot count quotas" */
export function quotaUncounted(why: string): UsageError {
  return new UsageError("quota_uncounted", `cannot count quotas ${why}`, {
    hint: "set XDG_STATE_HOME to a folder that you can write; runs share their count there",
  });
}

/**
 * Counts quotas in a small SQLite file per service, shared by all processes that use the folder. A
 * change is on disk before the requests it counts are sent. A killed process leaves its reservation
 * counted in full.
 *
 * If the file is damaged, every quota counts as used up at the file's last write: no quota is
 * exceeded, and runs continue by themselves once the windows are over.
 */
class FileQuotaStore implements QuotaStore {
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
    const reserved = this.#change(busyTimeoutMs, (counts) => counts.reserve(name, options));
    const nextAtMs = options.nowMs + busy.retryMs;
    return Promise.resolve(reserved ?? { permits: 0, id: "", nextAtMs, busy: true });
  }

  /** A reservation that cannot be settled stays counted in full. */
  settle(name: string, id: string, used: number, nowMs: number): void {
    this.#change(patienceMs, (counts) => counts.settle(name, id, used, nowMs));
  }

  /** Changes the counts; null if another process holds the lock for too long, or the disk fails. */
  #change<T>(timeout: number, change: (counts: QuotaCounts) => T): T | null {
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

  /** @throws the SQLite or system error */
  #apply<T>(timeout: number, change: (counts: QuotaCounts) => T): T {
    const path = this.#path;
    makeFolder(dirname(path), 0o700);
    // SQLite only reports that it cannot open the file; this gives the system's reason.
    accessSync(dirname(path), constants.W_OK);
    if (!existsSync(path)) createFile(path, null);
    accessSync(path, constants.R_OK | constants.W_OK);
    const inFile = (): T =>
      withDatabase(path, { timeout }, (database) =>
        transact(database, () => {
          const counts = readCounts(database);
          const changed = change(counts);
          writeCounts(database, counts.state);
          return changed;
        }),
      );
    try {
      return inFile();
    } catch (error) {
      if (!isCorrupt(path, error)) throw error;
      createFile(path, lostAt(path, this.#location));
      return inFile();
    }
  }
}
