import { randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../core/files/make-folder.js";
import { awaitLock } from "../../core/files/run-lock.js";
import {
  encodeQuotaFile,
  entriesOf,
  nothingCounted,
  parseQuotaFile,
  type QuotaCounts,
  quotaFileName,
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
}

/** How long other processes may hold the lock before this one tries again later, in milliseconds. */
const patienceMs = 2_000;

/** When to try again, and how often in vain before the user is told. */
const busy = { retryMs: 250, triesBeforeWarning: 3 };

/** No reservation is for longer than this after the file was written, in milliseconds. */
const longestReservationMs = 60_000;

/**
 * Quotas counted in a small file for each service, shared by all processes that use the folder.
 * A change happens under a lock; the new file is on the disk before it replaces the old one, and
 * before the requests that it counts are sent. A process that is killed leaves its reservation
 * counted in full.
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
    this.#path = quotaPath(options.folder, options.service);
  }

  /** @throws what the system says when the folder cannot be read or written */
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
    makeFolder(this.#options.folder, 0o700);
    const unlock = await awaitLock(`${this.#path}.lock`, patienceMs);
    if (unlock === null) return this.#warnBusy();
    this.#failedTries = 0;
    try {
      const counts = readQuotaCounts(this.#options);
      const changed = apply(entriesOf(counts, name));
      await this.#write({ ...counts, quotas: { ...counts.quotas, [name]: changed.entries } });
      return changed;
    } finally {
      await unlock();
    }
  }

  async #write(counts: QuotaCounts): Promise<void> {
    const fresh = `${this.#path}.new`;
    try {
      const file = await open(fresh, "w", 0o600);
      try {
        await file.writeFile(encodeQuotaFile(this.#options.service, counts));
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(fresh, this.#path);
    } catch (error) {
      await rm(fresh, { force: true }).catch(() => undefined);
      throw error;
    }
    await syncFolder(this.#options.folder);
  }

  #warnBusy(): null {
    if (++this.#failedTries === busy.triesBeforeWarning) {
      this.#options.onWarning(
        `another process holds ${this.#path}.lock; nothing is sent until it lets the quota count go`,
      );
    }
    return null;
  }
}

/**
 * Reads what is counted for a service. That needs no lock: a file is replaced in one step.
 *
 * @throws what the system says when the file cannot be read
 */
export function readQuotaCounts({
  folder,
  service,
  onWarning,
}: Pick<QuotaFolderOptions, "folder" | "service" | "onWarning">): QuotaCounts {
  const path = quotaPath(folder, service);
  const text = readIfThere(path);
  if (text === null) return nothingCounted;
  const counts = parseQuotaFile(text);
  if (counts !== null) return counts;
  const writtenMs = statSync(path).mtimeMs;
  const at = new Date(writtenMs).toISOString().replace(/\.\d+Z$/, "Z");
  onWarning(
    `the quota count ${path} is damaged: every quota of the service counts as used up at ${at}; ` +
      "delete the file to count from 0",
  );
  return { quotas: {}, lostMs: writtenMs + longestReservationMs };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

function quotaPath(folder: string, service: string): string {
  return join(folder, quotaFileName(service));
}

/** Without it a loss of power may bring the old file back. Not every system can. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows opens no folders.
  }
}
