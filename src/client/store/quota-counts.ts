import { randomUUID } from "node:crypto";
import { type QuotaStore, type Reservation, type ReserveOptions, windowOf } from "./quota.js";

export interface QuotaUse {
  readonly spent: number;
  /** When the next permits may become free: at the end of a reservation or of its window. */
  readonly nextAtMs: number;
}

/** Permits of a quota, and the latest time at which they were or may be used, in milliseconds since 1970. */
interface Entry {
  readonly quota: string;
  /** The ID of a reservation, or a thousandth of the window, which bounds the number of entries. */
  readonly slot: string;
  readonly permits: number;
  readonly lastMs: number;
  /** Whether they are reserved, not used yet. */
  readonly open: boolean;
}

/** What there is to keep, as JSON. */
export interface QuotaState {
  /** The time of the counts, and the wall clock then. */
  readonly ms: number;
  readonly clockMs: number;
  /** When earlier counts were lost: every quota counts as used up then. Null for never. */
  readonly lostMs: number | null;
  readonly entries: readonly Entry[];
}

export function emptyCounts(lostMs: number | null): QuotaState {
  return { ms: lostMs ?? 0, clockMs: lostMs ?? 0, lostMs, entries: [] };
}

/** Processes read the clock before they wait for the file, so a little disorder is no jump. */
const disorderMs = 60_000;

/**
 * The counts of a service's quotas, in memory.
 *
 * They have a time of their own, which never goes back: if the wall clock jumps back, it goes on
 * from where it was, and if the clock returns, both agree again. So what was spent before a jump,
 * or after it, is neither forgotten when the clock is set right nor counted for longer.
 */
export class QuotaCounts implements QuotaStore {
  #ms: number;
  #clockMs: number;
  readonly #lostMs: number | null;
  #entries: Entry[];

  constructor({ ms, clockMs, lostMs, entries }: QuotaState = emptyCounts(null)) {
    this.#ms = ms;
    this.#clockMs = clockMs;
    this.#lostMs = lostMs;
    this.#entries = [...entries];
  }

  get state(): QuotaState {
    return { ms: this.#ms, clockMs: this.#clockMs, lostMs: this.#lostMs, entries: this.#entries };
  }

  reserve(quota: string, options: ReserveOptions): Reservation {
    const { rate, want, nowMs, untilMs, before } = options;
    if (before !== undefined) this.settle(quota, before.id, before.used, nowMs);
    const timeMs = this.#keepTime(nowMs);
    this.#entries = this.#entries.filter(
      (entry) => entry.quota !== quota || entry.lastMs + rate.perMs > timeMs,
    );
    const { spent, nextAtMs } = this.use(quota, options);
    const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
    const id = randomUUID();
    const lastMs = Math.ceil(timeMs + untilMs - nowMs);
    if (permits > 0) this.#entries.push({ quota, slot: id, permits, lastMs, open: true });
    return { permits, id, nextAtMs };
  }

  settle(quota: string, id: string, used: number, nowMs: number): void {
    const reserved = this.#take(quota, id);
    if (reserved === undefined || used === 0) return;
    const usedMs = Math.ceil(Math.min(reserved.lastMs, this.#keepTime(nowMs)));
    const slot = String(Math.floor(usedMs / (windowOf(quota) / 1000)));
    const known = this.#take(quota, slot);
    const permits = (known?.permits ?? 0) + used;
    const lastMs = Math.max(known?.lastMs ?? 0, usedMs);
    this.#entries.push({ quota, slot, permits, lastMs, open: false });
  }

  use(quota: string, { rate, nowMs }: Pick<ReserveOptions, "rate" | "nowMs">): QuotaUse {
    const entries: Omit<Entry, "slot">[] = this.#entries.filter((entry) => entry.quota === quota);
    const lastMs = this.#lostMs;
    if (lastMs !== null) entries.push({ quota, permits: rate.count, lastMs, open: false });
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
    return clockMs >= this.#ms ? clockMs : this.#ms + Math.max(0, clockMs - this.#clockMs);
  }

  #keepTime(clockMs: number): number {
    const ms = this.#timeAt(clockMs);
    const isDisorder = clockMs < this.#clockMs && clockMs >= this.#clockMs - disorderMs;
    if (!isDisorder) [this.#ms, this.#clockMs] = [ms, clockMs];
    return ms;
  }

  /** Removes an entry. */
  #take(quota: string, slot: string): Entry | undefined {
    const at = this.#entries.findIndex((entry) => entry.quota === quota && entry.slot === slot);
    return at < 0 ? undefined : this.#entries.splice(at, 1)[0];
  }
}
