import type { Rate } from "../../core/options.js";

/** Requests that one process may send until a deadline. It returns what it doesn't use. */
export interface Reservation {
  /** 0 if the quota is used up. */
  readonly permits: number;
  readonly id: string;
  /** When to ask again, in milliseconds since 1970; only if `permits` is 0. */
  readonly nextAtMs: number;
  /** True if another process held the lock and nothing changed. */
  readonly busy?: boolean;
}

export interface ReserveOptions {
  readonly rate: Rate;
  /** Permits wanted, 1 or more. */
  readonly want: number;
  readonly nowMs: number;
  /** Deadline for using them. They count from then on, for the length of the window. */
  readonly untilMs: number;
  /** An earlier reservation to settle in the same step. */
  readonly before?: { readonly id: string; readonly used: number } | undefined;
}

/** Counts the requests made under a service's quotas. */
export interface QuotaStore {
  reserve(name: string, options: ReserveOptions): Reservation | Promise<Reservation>;
  /** Settles a reservation: `used` permits were used, all before `nowMs`. */
  settle(name: string, id: string, used: number, nowMs: number): void | Promise<void>;
}

/** Permits, and the latest time they were or may be used. */
export interface QuotaEntry {
  readonly permits: number;
  /** Milliseconds since 1970. */
  readonly lastMs: number;
  /** Set for a reservation that can still be settled. */
  readonly id?: string;
}

/** Counts quotas in memory, for the life of the process. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #quotas = new Map<string, readonly QuotaEntry[]>();
  #count = 0;

  reserve(name: string, options: ReserveOptions): Reservation {
    const found = this.#quotas.get(name) ?? [];
    const { entries, reservation } = reserveFrom(found, options, String(this.#count++));
    this.#quotas.set(name, entries);
    return reservation;
  }

  settle(name: string, id: string, used: number, nowMs: number): void {
    this.#quotas.set(name, settleIn(this.#quotas.get(name) ?? [], id, used, nowMs));
  }
}

/**
 * An entry this far past any current reservation was written by a clock that was ahead and has been
 * corrected. It counts from now on instead.
 */
const clockAheadMs = 60_000;

/** Settled entries within a thousandth of the window are merged, to bound their number. */
const slotsPerWindow = 1000;

/** Reserves permits from what a quota has left. */
export function reserveFrom(
  entries: readonly QuotaEntry[],
  options: ReserveOptions,
  id: string,
): { readonly entries: readonly QuotaEntry[]; readonly reservation: Reservation } {
  const { rate, want, nowMs, untilMs, before } = options;
  const settled = before ? settleIn(entries, before.id, before.used, nowMs) : entries;
  const kept = stillCounted(settled, options);
  const permits = Math.max(0, Math.min(want, rate.count - permitsIn(kept)));
  const nextAtMs = kept.reduce(
    (next, entry) => Math.min(next, nextFree(entry, rate, nowMs)),
    Number.POSITIVE_INFINITY,
  );
  if (permits > 0) kept.push({ permits, lastMs: untilMs, id });
  return { entries: kept, reservation: { permits, id, nextAtMs } };
}

/** Requests that count against a quota now. */
export function spentOf(
  entries: readonly QuotaEntry[],
  options: Pick<ReserveOptions, "rate" | "nowMs">,
): number {
  return permitsIn(stillCounted(entries, { ...options, untilMs: options.nowMs }));
}

/** Settles a reservation: `used` of its permits were used. */
export function settleIn(
  entries: readonly QuotaEntry[],
  id: string,
  used: number,
  nowMs: number,
): readonly QuotaEntry[] {
  return entries.flatMap((entry) => {
    if (entry.id !== id) return [entry];
    return used === 0 ? [] : [{ permits: used, lastMs: Math.min(entry.lastMs, nowMs) }];
  });
}

/** Entries within the window, with settled ones merged by slot. */
function stillCounted(
  entries: readonly QuotaEntry[],
  { rate, nowMs, untilMs }: Pick<ReserveOptions, "rate" | "nowMs" | "untilMs">,
): QuotaEntry[] {
  const slotMs = rate.perMs / slotsPerWindow;
  const bySlot = new Map<string | number, QuotaEntry>();
  for (const entry of entries) {
    const { permits, lastMs, id } =
      entry.lastMs > untilMs + clockAheadMs ? { ...entry, lastMs: untilMs, id: undefined } : entry;
    if (lastMs + rate.perMs <= nowMs) continue;
    const slot = id ?? Math.floor(lastMs / slotMs);
    const merged = bySlot.get(slot) ?? { permits: 0, lastMs };
    bySlot.set(slot, {
      permits: merged.permits + permits,
      lastMs: Math.max(merged.lastMs, lastMs),
      ...(id === undefined ? {} : { id }),
    });
  }
  return [...bySlot.values()];
}

function permitsIn(entries: readonly QuotaEntry[]): number {
  return entries.reduce((sum, { permits }) => sum + permits, 0);
}

/** When an entry may free permits: at the end of its reservation or of its window. */
function nextFree({ id, lastMs }: QuotaEntry, rate: Rate, nowMs: number): number {
  return id !== undefined && lastMs > nowMs ? lastMs : lastMs + rate.perMs;
}
