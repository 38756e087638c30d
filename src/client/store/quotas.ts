import { createHash, randomUUID } from "node:crypto";
import { existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import { serviceAddress } from "./cache-key.js";
import { QuotaCounts, type QuotaState, type QuotaStore } from "./quota.js";
import {
  busyTimeoutMs,
  corrupt,
  createPrivate,
  kindOfFault,
  SqliteFile,
  storeFault,
} from "./sqlite-file.js";

interface QuotaLocation {
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** The user's state folder (XDG_STATE_HOME). */
  readonly stateFolder: string;
  /** Called about damage, and while the count cannot be written. */
  readonly onWarning: (message: string) => void;
}

/** Longest time a reservation can end after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/** How long a reader waits for another process's lock, in milliseconds. */
const readerPatienceMs = 2_000;

/** Failed tries before the warning that another process holds the lock. */
const triesBeforeWarning = 20;

/** The counts of a service; none if they cannot be read, with a warning. @throws as `openQuotas` */
export function readQuotas(location: QuotaLocation): QuotaCounts {
  const path = quotaPath(location);
  if (!existsSync(path)) return new QuotaCounts();
  const counts = openQuotas(location).change((kept) => kept, readerPatienceMs);
  if (counts === null)
    location.onWarning(`cannot read the quota count ${path}: none of it counts as used`);
  return counts ?? new QuotaCounts();
}

/**
 * Counts a service's quotas in the user's state folder.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas(location: QuotaLocation): QuotaStore {
  try {
    return new FileQuotaStore(location);
  } catch (error) {
    throw quotaUncounted(`in ${dirname(quotaPath(location))}: ${storeFault(error)}`);
  }
}

/** @param why a clause that follows "cannot count quotas" */
export function quotaUncounted(why: string): UsageError {
  return new UsageError("quota_uncounted", `cannot count quotas ${why}`, {
    hint: "set XDG_STATE_HOME to a folder that you can write; runs share their count there",
  });
}

/** The file that holds a service's counts. Spellings of the same address share one. */
export function quotaPath({ stateFolder, service }: Omit<QuotaLocation, "onWarning">): string {
  const address = serviceAddress(service);
  const host = new URL(service).hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  const digest = createHash("sha256").update(address).digest("hex").slice(0, 16);
  return join(stateFolder, "quota", `${host}-${digest}.db`);
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
  readonly #onWarning: QuotaLocation["onWarning"];
  readonly #path: string;
  #failedTries = 0;

  /** @throws the SQLite or system error if the folder cannot be read or written */
  constructor(location: QuotaLocation) {
    this.#path = quotaPath(location);
    this.#onWarning = location.onWarning;
    try {
      this.#apply(() => undefined, busyTimeoutMs);
    } catch (error) {
      if (kindOfFault(this.#path, error) !== "busy") throw error;
    }
  }

  /** Null if another process holds the lock for too long, or the disk fails: no request is permitted. */
  change<T>(work: (counts: QuotaCounts) => T, patienceMs = busyTimeoutMs): T | null {
    try {
      const changed = this.#apply(work, patienceMs);
      this.#failedTries = 0;
      return changed;
    } catch (error) {
      const isBusy = kindOfFault(this.#path, error) === "busy";
      if (++this.#failedTries === (isBusy ? triesBeforeWarning : 1)) {
        this.#onWarning(
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
    if (!existsSync(path)) this.#create(null);
    createPrivate(path);
    const changeInFile = (): T =>
      inTransaction(path, timeout, (file) => {
        file.checkVersion();
        const state = file.read("counts") as QuotaState | null;
        if (state === null) throw corrupt("its counts are missing");
        const counts = new QuotaCounts(state);
        const changed = work(counts);
        file.write({ counts: counts.state });
        return changed;
      });
    try {
      return changeInFile();
    } catch (error) {
      const kind = kindOfFault(path, error);
      if (kind !== "damaged" && kind !== "version") throw error;
      const writtenMs = statSync(path).mtimeMs;
      const at = new Date(writtenMs).toISOString().replace(/\.\d+Z$/, "Z");
      this.#onWarning(
        `the quota count ${path} is damaged or of another version of repute: every quota of the service counts as used up at ${at}; ` +
          "delete the file to count from 0",
      );
      this.#create(writtenMs + longestReservationMs);
      return changeInFile();
    }
  }

  /**
   * Creates the file. It appears complete, so an empty file always means damage.
   *
   * @param lostMs when the counts of the damaged file that it replaces were lost; null keeps a file
   *   that another process created meanwhile
   */
  #create(lostMs: number | null): void {
    const path = this.#path;
    const fresh = `${path}.${randomUUID()}`;
    try {
      createPrivate(fresh);
      inTransaction(fresh, busyTimeoutMs, (file) => {
        file.create(false);
        file.write({ counts: new QuotaCounts({ lostMs }).state });
      });
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
}

/**
 * Opens a file for one transaction, which is on disk when this returns. Without a write-ahead log, no
 * second file can be lost or damaged.
 */
function inTransaction<T>(path: string, timeout: number, work: (file: SqliteFile) => T): T {
  const file = new SqliteFile(path, timeout);
  try {
    file.database.exec("PRAGMA synchronous = FULL");
    return file.transact(() => work(file));
  } finally {
    file.database.close();
  }
}
