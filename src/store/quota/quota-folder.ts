import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isBusy } from "../store-fault.js";
import {
  changeQuotaFile,
  entriesOf,
  isLost,
  makeQuotaFile,
  nothingCounted,
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
  /** Told once when the count is damaged, and once when another process does not let it go. */
  readonly onWarning: (message: string) => void;
  /** Counts that stand in another folder, to which nothing can be written. Default none. */
  readonly elsewhere?: QuotaCounts | undefined;
  /** How long another process may hold the count before this one tries again later. Default 2,000 */
  readonly patienceMs?: number | undefined;
}

/** When to try again, and how often in vain before the user is told. */
const busy = { retryMs: 250, triesBeforeWarning: 3 };

/** No reservation is for longer than this after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/**
 * Quotas counted in a small SQLite file for each service, shared by all processes that use the
 * folder. A change is on the disk before the requests that it counts are sent. A process that is
 * killed leaves its reservation counted in full.
 *
 * In a damaged file every quota counts as used up when the file was last written: none is exceeded,
 * and once their windows are over, runs continue by themselves.
 */
export class QuotaFolder implements QuotaStore {
  readonly #options: QuotaFolderOptions;
  readonly #path: string;
  #failedTries = 0;

  constructor(options: QuotaFolderOptions) {
    this.#options = options;
    this.#path = quotaPath(options);
  }

  /** @throws what the system or SQLite says when the folder cannot be read or written */
  async reserve(name: string, options: ReserveOptions): Promise<Reservation> {
    const elsewhere = entriesOf(this.#options.elsewhere ?? nothingCounted, name);
    const reserved = await this.#change(name, (entries) =>
      reserveFrom(entries, options, randomUUID(), elsewhere),
    );
    const nextAtMs = options.nowMs + busy.retryMs;
    return reserved?.reservation ?? { permits: 0, id: "", nextAtMs, busy: true };
  }

  /** What cannot be settled stays counted in full. */
  async settle(name: string, id: string, used: number, nowMs: number): Promise<void> {
    try {
      await this.#change(name, (entries) => ({ entries: settleIn(entries, id, used, nowMs) }));
    } catch {
      // Too much is counted, which no quota minds.
    }
  }

  /** Changes the count of a quota; null when another process does not let it go. */
  async #change<T extends { readonly entries: readonly QuotaEntry[] }>(
    name: string,
    apply: (entries: readonly QuotaEntry[]) => T,
  ): Promise<T | null> {
    let changed: T | null = null;
    const change = (counts: QuotaCounts): QuotaCounts => {
      changed = apply(entriesOf(counts, name));
      return { ...counts, quotas: { ...counts.quotas, [name]: changed.entries } };
    };
    const until = performance.now() + (this.#options.patienceMs ?? 2_000);
    for (;;) {
      try {
        changeQuotaFile(this.#path, change);
        this.#failedTries = 0;
        return changed;
      } catch (error) {
        if (isLost(error)) {
          makeQuotaFile(this.#path, lostCounts(this.#path, this.#options.onWarning), "replacement");
        } else if (!isBusy(error)) throw error;
        else if (performance.now() >= until) return this.#warnBusy();
      }
      await delay(2 + Math.random() * 8);
    }
  }

  #warnBusy(): null {
    if (++this.#failedTries === busy.triesBeforeWarning) {
      this.#options.onWarning(
        `another process holds ${this.#path}; nothing is sent until it lets the quota count go`,
      );
    }
    return null;
  }
}

/**
 * Reads what is counted for a service.
 *
 * @throws what the system or SQLite says when the file cannot be read
 */
export function readQuotaCounts(
  options: Pick<QuotaFolderOptions, "folder" | "service" | "onWarning">,
): QuotaCounts {
  const path = quotaPath(options);
  try {
    return readQuotaFile(path) ?? nothingCounted;
  } catch (error) {
    if (isLost(error)) return lostCounts(path, options.onWarning);
    throw error;
  }
}

/** What counts in place of a damaged file. */
function lostCounts(path: string, onWarning: (message: string) => void): QuotaCounts {
  const writtenMs = statSync(path).mtimeMs;
  const at = new Date(writtenMs).toISOString().replace(/\.\d+Z$/, "Z");
  onWarning(
    `the quota count ${path} is damaged: every quota of the service counts as used up at ${at}; ` +
      "delete the file to count from 0",
  );
  return { quotas: {}, lostMs: writtenMs + longestReservationMs };
}

function quotaPath({ folder, service }: Pick<QuotaFolderOptions, "folder" | "service">): string {
  return join(folder, quotaFileName(service));
}
