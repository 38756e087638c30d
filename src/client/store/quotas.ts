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
import { DatabaseSync, type DatabaseSyncOptions as DatabaseOptions } from "@photostructure/sqlite";
import { UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import { serviceAddress } from "./cache-key.js";
import {
  busyTimeoutMs,
  corrupt,
  type Database,
  factsSchema,
  isBusy,
  isCorrupt,
  readFact,
  storeFault,
  transact,
  writeFact,
} from "./database.js";
import { emptyCounts, QuotaCounts, type QuotaState, type QuotaStore } from "./quota.js";

interface QuotaLocation {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME). */
  readonly stateFolder: string;
  /** Called about damage, and while the count cannot be written. */
  readonly onWarning: (message: string) => void;
}

/** File format version. Increase when the tables or their content change. */
const version = 8;

const schema = `${factsSchema} PRAGMA user_version = ${version};`;

/** The name of the fact that holds all counts. */
const fact = "counts";

/** @throws an error of SQLite's code for damage if the counts are not as this version kept them */
function readCounts(database: Database): QuotaCounts {
  const found = database.prepare("PRAGMA user_version").get() as { readonly user_version: number };
  const state = found.user_version === version ? readFact(database, fact) : null;
  if (state === null) throw corrupt("its counts are missing");
  return new QuotaCounts(state as QuotaState);
}

/** Longest time a reservation can end after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/** How long a reader waits for another process's lock, in milliseconds. */
const readerPatienceMs = 2_000;

/** The counts of a service; none if they cannot be read, with a warning. @throws as `openQuotas` */
export function readQuotas(location: QuotaLocation): QuotaCounts {
  const path = quotaPath(location);
  if (!existsSync(path)) return new QuotaCounts();
  const counts = openQuotas(location).change((kept) => kept, readerPatienceMs);
  if (counts === null)
    location.onWarning(`cannot read the quota count ${path}: none of it counts as used`);
  return counts ?? new QuotaCounts();
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
        writeFact(database, fact, emptyCounts(lostMs));
      }),
    );
    if (lostMs === null) return linkSync(fresh, path);
    // Otherwise SQLite would roll the damaged file's transaction back into the new one.
    rmSync(`${path}-journal`, { force: true });
    renameSync(fresh, path);
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

/** Failed tries before the warning that another process holds the lock. */
const triesBeforeWarning = 20;

/**
 * Counts a service's quotas in the user's state folder.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas(location: QuotaLocation): QuotaStore {
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
      this.#apply(() => undefined, busyTimeoutMs);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  /** Null if another process holds the lock for too long, or the disk fails: no request is permitted. */
  change<T>(work: (counts: QuotaCounts) => T, patienceMs = busyTimeoutMs): T | null {
    try {
      const changed = this.#apply(work, patienceMs);
      this.#failedTries = 0;
      return changed;
    } catch (error) {
      if (++this.#failedTries === (isBusy(error) ? triesBeforeWarning : 1)) {
        this.#location.onWarning(
          `cannot write the quota count ${this.#path}: ${storeFault(error)}; sending nothing until it can be written`,
        );
      }
      return null;
    }
  }

  /** @throws the SQLite or system error */
  #apply<T>(work: (counts: QuotaCounts) => T, timeout: number): T {
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
          const changed = work(counts);
          writeFact(database, fact, counts.state);
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
