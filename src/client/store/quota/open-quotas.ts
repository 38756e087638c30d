import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { makeFolder } from "../../../core/files/make-folder.js";
import { busyTimeoutMs } from "../sqlite.js";
import { isBusy, isCorrupt, storeFault } from "../store-fault.js";
import { MemoryQuotaStore, type QuotaCounts } from "./quota-counts.js";
import {
  changeFile,
  createFile,
  lostAt,
  patienceMs,
  quotaFolder,
  type QuotaLocation,
  quotaPath,
} from "./quota-file.js";
import type { QuotaStore, Reservation, ReserveOptions } from "./quota.js";

/** Retry interval, and failed tries before the warning that another process holds the lock. */
const busy = { retryMs: 250, triesBeforeWarning: 20 };

/**
 * Counts a service's quotas in the user's state folder, or in memory without one.
 *
 * @throws UsageError `quota_uncounted` if the folder cannot be written
 */
export function openQuotas(location: QuotaLocation | null): QuotaStore {
  if (location === null) return new MemoryQuotaStore();
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
    try {
      return changeFile(path, timeout, change);
    } catch (error) {
      if (!isCorrupt(path, error)) throw error;
      createFile(path, lostAt(path, this.#location));
      return changeFile(path, timeout, change);
    }
  }
}
