import type { Rate } from "../core/options.js";

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
export interface QuotaEntry {
  readonly permits: number;
  readonly lastMs: number;
}

export type QuotaEntries = Map<string, QuotaEntry>;

/** Quotas counted for as long as the process lives. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #names = new Map<string, QuotaEntries>();
  #count = 0;

  reserve(name: string, options: ReserveOptions): Reservation {
    const entries = this.#names.get(name) ?? new Map<string, QuotaEntry>();
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
 * What is said to be used so much later than anything reserved now was counted by a clock that was
 * ahead and has been set right. It counts from now on, not until that clock's time comes.
 */
const clockAheadMs = 60_000;

/** Takes permits from what a quota's entries leave, under the identifier. */
export function reserveFrom(
  entries: QuotaEntries,
  options: ReserveOptions,
  id: string,
): Reservation {
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

/** Says how many permits of an entry were used. */
export function settleIn(entries: QuotaEntries, id: string, used: number, nowMs: number): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  if (used === 0) entries.delete(id);
  else entries.set(id, { permits: used, lastMs: Math.min(entry.lastMs, nowMs) });
}
