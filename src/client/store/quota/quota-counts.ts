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

/** Processes read the clock before they wait for the file, so a little disorder is no jump. */
const disorderMs = 60_000;

/**
 * The counts of a service's quotas. As JSON, they can be kept.
 *
 * They have a time of their own, which never goes back: if the wall clock jumps back, it goes on
 * from where it was, and if the clock returns, both agree again. So what was spent before a jump,
 * or after it, is neither forgotten when the clock is set right nor counted for longer.
 */
export class QuotaCounts {
  /**
   * Entries by quota, then by slot: the ID of a reservation, or a thousandth of the window, which bounds
   * their number.
   */
  readonly #quotas: Map<string, Map<string, Entry>>;
  /** When earlier counts were lost: every quota counts as used up then. Null for never. */
  readonly #lostMs: number | null;
  /** The latest time of the counts, and the wall clock then. */
  #latest: { readonly ms: number; readonly clockMs: number };

  constructor(
    lostMs: number | null = null,
    quotas: ReturnType<QuotaCounts["toJSON"]>[1] = [],
    latest: ReturnType<QuotaCounts["toJSON"]>[2] = { ms: lostMs ?? 0, clockMs: lostMs ?? 0 },
  ) {
    this.#lostMs = lostMs;
    this.#latest = latest;
    this.#quotas = new Map(quotas.map(([name, entries]) => [name, new Map(entries)]));
  }

  toJSON() {
    return [
      this.#lostMs,
      [...this.#quotas].map(([name, all]) => [name, [...all]] as const),
      this.#latest,
    ] as const;
  }

  reserve(name: string, options: ReserveOptions): Reservation {
    const { rate, want, nowMs, untilMs, before } = options;
    if (before !== undefined) this.settle(name, before.id, before.used, nowMs);
    const timeMs = this.#keepTime(nowMs);
    const entries = this.#entriesOf(name);
    for (const [slot, { lastMs }] of entries) {
      if (lastMs + rate.perMs <= timeMs) entries.delete(slot);
    }
    const { spent, nextAtMs } = this.use(name, options);
    const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
    const id = randomUUID();
    const lastMs = Math.ceil(timeMs + untilMs - nowMs);
    if (permits > 0) entries.set(id, { permits, lastMs, open: true });
    return { permits, id, nextAtMs };
  }

  /** Settles a reservation: `used` of its permits were used. */
  settle(name: string, id: string, used: number, nowMs: number): void {
    const entries = this.#entriesOf(name);
    const reserved = entries.get(id);
    entries.delete(id);
    if (reserved === undefined || used === 0) return;
    const lastMs = Math.ceil(Math.min(reserved.lastMs, this.#keepTime(nowMs)));
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
    const timeMs = this.#timeAt(nowMs);
    let [spent, nextMs] = [0, Number.POSITIVE_INFINITY];
    for (const { permits, lastMs, open } of entries) {
      if (lastMs + rate.perMs <= timeMs) continue;
      spent += permits;
      nextMs = Math.min(nextMs, lastMs + (open && lastMs > timeMs ? 0 : rate.perMs));
    }
    return { spent, nextAtMs: nextMs - timeMs + nowMs };
  }

  /** The time of the counts when the wall clock shows `clockMs`. */
  #timeAt(clockMs: number): number {
    const { ms, clockMs: before } = this.#latest;
    return clockMs >= ms ? clockMs : ms + Math.max(0, clockMs - before);
  }

  #keepTime(clockMs: number): number {
    const ms = this.#timeAt(clockMs);
    const disordered =
      clockMs < this.#latest.clockMs && clockMs >= this.#latest.clockMs - disorderMs;
    if (!disordered) this.#latest = { ms, clockMs };
    return ms;
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
