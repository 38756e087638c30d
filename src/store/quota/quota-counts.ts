import { randomUUID } from "node:crypto";
import { type QuotaStore, type Reservation, type ReserveOptions, windowOf } from "./quota.js";

/** Permits of a quota, and the latest time at which they were or may be used, in milliseconds since 1970. */
interface Entry {
  permits: number;
  lastMs: number;
  /** Whether they are reserved, not used yet. */
  readonly open: boolean;
}

export interface QuotaUse {
  readonly spent: number;
  /** When the next permits may become free: at the end of a reservation or of its window. */
  readonly nextAtMs: number;
}

/**
 * An entry this far past any current reservation was written by a clock that was ahead and has been
 * corrected. It counts from now on instead.
 */
const clockAheadMs = 60_000;

/** The counts of a service's quotas. As JSON, they can be kept. */
export class QuotaCounts {
  /**
   * Entries by quota, then by slot: the ID of a reservation, or a thousandth of the window, which bounds
   * their number.
   */
  readonly #quotas: Map<string, Map<string, Entry>>;
  /** When earlier counts were lost: every quota counts as used up then. Null for never. */
  #lostMs: number | null;

  constructor(lostMs: number | null = null, quotas: ReturnType<QuotaCounts["toJSON"]>[1] = []) {
    this.#lostMs = lostMs;
    this.#quotas = new Map(quotas.map(([name, entries]) => [name, new Map(entries)]));
  }

  toJSON() {
    return [
      this.#lostMs,
      [...this.#quotas].map(([name, all]) => [name, [...all]] as const),
    ] as const;
  }

  reserve(name: string, options: ReserveOptions): Reservation {
    const { rate, want, nowMs, untilMs, before } = options;
    if (before !== undefined) this.settle(name, before.id, before.used, nowMs);
    const inTime = (lastMs: number): number => (lastMs > untilMs + clockAheadMs ? untilMs : lastMs);
    if (this.#lostMs !== null) this.#lostMs = inTime(this.#lostMs);
    const entries = this.#entriesOf(name);
    for (const [slot, entry] of entries) {
      if (entry.lastMs + rate.perMs <= nowMs) entries.delete(slot);
      entry.lastMs = inTime(entry.lastMs);
    }
    const { spent, nextAtMs } = this.use(name, options);
    const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
    const id = randomUUID();
    if (permits > 0) entries.set(id, { permits, lastMs: Math.ceil(untilMs), open: true });
    return { permits, id, nextAtMs };
  }

  /** Settles a reservation: `used` of its permits were used. */
  settle(name: string, id: string, used: number, nowMs: number): void {
    const entries = this.#entriesOf(name);
    const reserved = entries.get(id);
    entries.delete(id);
    if (reserved === undefined || used === 0) return;
    const lastMs = Math.ceil(Math.min(reserved.lastMs, nowMs));
    const slot = String(Math.floor(lastMs / (windowOf(name) / 1000)));
    const { permits, lastMs: knownMs } = entries.get(slot) ?? { permits: 0, lastMs: 0 };
    const entry = { permits: permits + used, lastMs: Math.max(knownMs, lastMs), open: false };
    entries.set(slot, entry);
  }

  use(name: string, { rate, nowMs }: Pick<ReserveOptions, "rate" | "nowMs">): QuotaUse {
    const entries = [...this.#entriesOf(name).values()];
    if (this.#lostMs !== null) {
      entries.push({ permits: rate.count, lastMs: this.#lostMs, open: false });
    }
    let [spent, nextAtMs] = [0, Number.POSITIVE_INFINITY];
    for (const { permits, lastMs, open } of entries) {
      if (lastMs + rate.perMs <= nowMs) continue;
      spent += permits;
      const freeMs = open && lastMs > nowMs ? 0 : rate.perMs;
      nextAtMs = Math.min(nextAtMs, Math.min(lastMs, nowMs + clockAheadMs) + freeMs);
    }
    return { spent, nextAtMs };
  }

  #entriesOf(name: string): Map<string, Entry> {
    let entries = this.#quotas.get(name);
    if (entries === undefined) this.#quotas.set(name, (entries = new Map<string, Entry>()));
    return entries;
  }
}

/** Counts quotas in memory, for the life of the process. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #counts = new QuotaCounts();

  reserve(name: string, options: ReserveOptions): Reservation {
    return this.#counts.reserve(name, options);
  }

  settle(name: string, id: string, used: number, nowMs: number): void {
    this.#counts.settle(name, id, used, nowMs);
  }
}
