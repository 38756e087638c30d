import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Database, open } from "lmdb";
import { FatalError } from "../core/errors.js";
import { makeFolder } from "../core/make-folder.js";
import type { Rate } from "../core/options.js";
import { lmdbDamage } from "./cache/lmdb-check.js";
import { throughGateSync } from "./lmdb-gate.js";

/** Permits that one process may use until a moment; what it does not use it may give back. */
export interface Reservation {
  /** 0 when the quota is used up. */
  readonly permits: number;
  readonly id: string;
  /** When the next permits come free, in milliseconds since 1970; only where `permits` is 0. */
  readonly nextAtMs: number;
}

export interface ReserveOptions {
  readonly rate: Rate;
  /** Permits wanted, 1 or more. */
  readonly want: number;
  readonly nowMs: number;
  /** Until when they may be used: they count from then on for the length of the window. */
  readonly untilMs: number;
}

/** Counts what was taken from quotas. */
export interface QuotaStore {
  reserve(name: string, options: ReserveOptions): Reservation;
  /** Says how many permits of a reservation were used; all were used before `nowMs`. */
  settle(name: string, id: string, used: number, nowMs: number): void;
  close(): Promise<void>;
}

/** What was reserved: permits, and the latest moment at which they were or may be used. */
interface Entry {
  readonly permits: number;
  readonly lastMs: number;
}

type Entries = Map<string, Entry>;

/** Quotas counted for as long as the process lives. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #names = new Map<string, Entries>();
  #count = 0;

  reserve(name: string, options: ReserveOptions): Reservation {
    const entries = this.#names.get(name) ?? new Map<string, Entry>();
    this.#names.set(name, entries);
    return reserveFrom(entries, options, String(this.#count++));
  }

  settle(name: string, id: string, used: number, nowMs: number): void {
    settleIn(this.#names.get(name) ?? new Map(), id, used, nowMs);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/**
 * Quotas counted in a folder, for all processes that share it and across runs. Every change is one
 * transaction behind a gate. A process that is killed leaves its reservation counted in full, so
 * that the count errs on the safe side.
 *
 * @throws FatalError `quota_unavailable` when the folder cannot be read or written, `quota_damaged`
 *   when what it holds is no count: to begin anew might exceed the quota, so that is for a person
 */
export async function openQuotaStore(folder: string): Promise<QuotaStore> {
  const damage = await lmdbDamage(join(folder, "data.mdb"));
  if (damage !== null) {
    throw new FatalError(
      "quota_damaged",
      `the count of the quota in ${folder} is damaged: ${damage}`,
      {
        hint: "remove that folder to count from 0; what was asked of late is not counted then",
      },
    );
  }
  const gated = <T>(action: () => T): T => attempt(folder, () => throughGateSync(folder, action));
  attempt(folder, () => makeFolder(folder, 0o700));
  const names = gated(() =>
    open<Record<string, Entry>, string>({
      path: folder,
      noSubdir: false,
      encoding: "json",
      overlappingSync: false,
    }),
  );
  const change = <T>(name: string, apply: (entries: Entries) => T): T =>
    gated(() =>
      names.transactionSync(() => {
        const entries: Entries = new Map(Object.entries(names.get(name) ?? {}));
        const result = apply(entries);
        names.putSync(name, Object.fromEntries(entries));
        return result;
      }),
    );
  return {
    reserve: (name, options) =>
      change(name, (entries) => reserveFrom(entries, options, randomUUID())),
    settle: (name, id, used, nowMs) =>
      change(name, (entries) => settleIn(entries, id, used, nowMs)),
    close: () => closeGated(folder, names),
  };
}

/** What was counted is written: a gate that cannot be passed is no reason to fail. */
async function closeGated(folder: string, names: Database): Promise<void> {
  try {
    // Nothing is being written, so that it is closed when the call returns.
    await throughGateSync(folder, () => names.close());
  } catch {
    await names.close();
  }
}

function attempt<T>(folder: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new FatalError(
      "quota_unavailable",
      `cannot count the quota in ${folder}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/**
 * What is said to be used so much later than anything reserved now was counted by a clock that was
 * ahead and has been set right. It counts from now on, not until that clock's time comes.
 */
const clockAheadMs = 60_000;

function reserveFrom(entries: Entries, options: ReserveOptions, id: string): Reservation {
  const { rate, want, nowMs, untilMs } = options;
  let taken = 0;
  let nextAtMs = Number.POSITIVE_INFINITY;
  for (const [key, entry] of entries) {
    const { permits } = entry;
    let { lastMs } = entry;
    if (lastMs > untilMs + clockAheadMs) {
      lastMs = untilMs;
      entries.set(key, { permits, lastMs });
    }
    const freeAt = lastMs + rate.perMs;
    if (freeAt <= nowMs) {
      entries.delete(key);
    } else {
      taken += permits;
      nextAtMs = Math.min(nextAtMs, freeAt);
    }
  }
  const permits = Math.max(0, Math.min(want, rate.count - taken));
  if (permits > 0) entries.set(id, { permits, lastMs: untilMs });
  return { permits, id, nextAtMs };
}

function settleIn(entries: Entries, id: string, used: number, nowMs: number): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  if (used === 0) entries.delete(id);
  else entries.set(id, { permits: used, lastMs: Math.min(entry.lastMs, nowMs) });
}
