import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isBusy, storeFault } from "../store-fault.js";
import {
  changeQuotaFile,
  entriesOf,
  hasLostCounts,
  makeQuotaFile,
  emptyCounts,
  type QuotaCounts,
  quotaFileName,
  readQuotaFile,
} from "./quota-file.js";
import {
  type QuotaEntry,
  type QuotaStore,
  type Reservation,
  type ReserveOptions,
  reserveFrom,
  settleIn,
} from "./quota-store.js";

export interface QuotaFolderOptions {
  readonly folder: string;
  /** Address of the service whose quotas are counted. */
  readonly service: string;
  /** Called once when the count is damaged, and once when another process holds it for too long. */
  readonly onWarning: (message: string) => void;
  /** How long to wait for another process's lock, in milliseconds. @default 2000 */
  readonly lockTimeoutMs?: number | undefined;
}

/** Retry interval, and failed tries before the warning. */
const busy = { retryMs: 250, triesBeforeWarning: 3 };

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
export class FolderQuotaStore implements QuotaStore {
  readonly #options: QuotaFolderOptions;
  readonly #path: string;
  #failedTries = 0;

  constructor(options: QuotaFolderOptions) {
    this.#options = options;
    this.#path = quotaPath(options);
  }

  /** @throws the SQLite or system error if the folder cannot be read or written */
  check(): void {
    try {
      changeQuotaFile(this.#path, (counts) => counts);
    } catch (error) {
      if (!hasLostCounts(this.#path, error) && !isBusy(error)) throw error;
    }
  }

  /** While the count cannot be written, no request is permitted. */
  async reserve(name: string, options: ReserveOptions): Promise<Reservation> {
    const reserved = await this.#change(name, (entries) =>
      reserveFrom(entries, options, randomUUID()),
    );
    const nextAtMs = options.nowMs + busy.retryMs;
    return reserved?.reservation ?? { permits: 0, id: "", nextAtMs, busy: true };
  }

  /** A reservation that cannot be settled stays counted in full. */
  async settle(name: string, id: string, used: number, nowMs: number): Promise<void> {
    await this.#change(name, (entries) => ({ entries: settleIn(entries, id, used, nowMs) }));
  }

  /** Changes the count of a quota; null if another process holds the lock for too long, or the disk fails. */
  async #change<T extends { readonly entries: readonly QuotaEntry[] }>(
    name: string,
    apply: (entries: readonly QuotaEntry[]) => T,
  ): Promise<T | null> {
    let changed: T | null = null;
    const change = (counts: QuotaCounts): QuotaCounts => {
      changed = apply(entriesOf(counts, name));
      return { ...counts, quotas: { ...counts.quotas, [name]: changed.entries } };
    };
    const until = performance.now() + (this.#options.lockTimeoutMs ?? 2_000);
    for (;;) {
      try {
        changeQuotaFile(this.#path, change);
        this.#failedTries = 0;
        return changed;
      } catch (error) {
        if (hasLostCounts(this.#path, error)) {
          makeQuotaFile(this.#path, lostCounts(this.#path, this.#options.onWarning), "replacement");
        } else if (!isBusy(error)) return this.#warnUnwritable(error);
        else if (performance.now() >= until) return this.#warnBusy();
      }
      await delay(2 + Math.random() * 8);
    }
  }

  #warnUnwritable(error: unknown): null {
    if (++this.#failedTries === 1) {
      const reason = storeFault(error);
      this.#options.onWarning(
        `cannot write the quota count ${this.#path}: ${reason}; sending nothing until it can be written`,
      );
    }
    return null;
  }

  #warnBusy(): null {
    if (++this.#failedTries === busy.triesBeforeWarning) {
      this.#options.onWarning(
        `another process has locked the quota count ${this.#path}; sending nothing until it is released`,
      );
    }
    return null;
  }
}

/**
 * Reads a service's counts.
 * @throws the SQLite or system error if the file cannot be read
 */
export function readQuotaCounts(
  options: Pick<QuotaFolderOptions, "folder" | "service" | "onWarning">,
): QuotaCounts {
  const path = quotaPath(options);
  try {
    return readQuotaFile(path) ?? emptyCounts;
  } catch (error) {
    if (hasLostCounts(path, error)) return lostCounts(path, options.onWarning);
    throw error;
  }
}

/** The counts that replace a damaged file. */
function lostCounts(path: string, onWarning: (message: string) => void): QuotaCounts {
  const writtenMs = statSync(path).mtimeMs;
  const at = new Date(writtenMs).toISOString().replace(/\.\d+Z$/, "Z");
  onWarning(
    `the quota count ${path} is damaged or of another version of repute: every quota of the service counts as used up at ${at}; ` +
      "delete the file to count from 0",
  );
  return { quotas: {}, lostMs: writtenMs + longestReservationMs };
}

function quotaPath({ folder, service }: Pick<QuotaFolderOptions, "folder" | "service">): string {
  return join(folder, quotaFileName(service));
}
