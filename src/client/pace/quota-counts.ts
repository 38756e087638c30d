import { randomUUID } from "node:crypto";
import type { Rate } from "../../core/options.js";

/** Permits of a quota, and the latest time at which they were or may be used, in milliseconds since 1970. */
interface Entry {
  /** Length of the quota's window: each has a count of its own. */
  readonly perMs: number;
  /** The ID of a reservation, or a thousandth of the window, which bounds the number of entries. */
  readonly slot: string;
  permits: number;
  lastMs: number;
  /** Whether they are reserved, not used yet. */
  readonly open: boolean;
}

/** What there is to keep, as JSON. */
interface QuotaState {
  /** The time of the counts, and the wall clock then. */
  ms: number;
  clockMs: number;
  entries: Entry[];
}

/** Requests that one process may send until a deadline. It returns what it doesn't use. */
interface Reservation {
  /** 0 if the quota is used up. */
  readonly permits: number;
  readonly slot: string;
  /** When the next permits may become free: at the end of a reservation or of its window. */
  readonly nextAtMs: number;
}

/** Where the requests made under a service's quotas are counted. */
export interface QuotaStore {
  /**
   * Reads and changes the counts in one step.
   *
   * @returns null if they cannot be changed now
   */
  change<T>(work: (counts: QuotaCounts) => T): T | null;
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
  readonly state: QuotaState;

  constructor(state: Partial<QuotaState> = {}) {
    this.state = { ms: 0, clockMs: 0, entries: [], ...state };
  }

  change<T>(work: (counts: QuotaCounts) => T): T {
    return work(this);
  }

  /**
   * Reserves permits.
   *
   * @param want how many, 1 or more
   * @param untilMs deadline for using them. They count from then on, for the length of the window
   */
  reserve(rate: Rate, want: number, nowMs: number, untilMs: number): Reservation {
    const { perMs } = rate;
    const { state } = this;
    const timeMs = this.#keepTime(nowMs);
    state.entries = state.entries.filter(
      (entry) => entry.perMs !== perMs || entry.lastMs + perMs > timeMs,
    );
    const { spent, nextAtMs } = this.use(rate, nowMs);
    const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
    const slot = randomUUID();
    const lastMs = Math.ceil(timeMs + untilMs - nowMs);
    if (permits > 0) state.entries.push({ perMs, slot, permits, lastMs, open: true });
    return { permits, slot, nextAtMs };
  }

  /** Settles a reservation: `used` permits were used, all before `nowMs`. */
  settle(perMs: number, slot: string, used: number, nowMs: number): void {
    const { entries } = this.state;
    const at = entries.findIndex((entry) => entry.slot === slot);
    if (at === -1) return;
    const [reserved] = entries.splice(at, 1);
    if (used === 0) return;
    const lastMs = Math.ceil(Math.min(reserved!.lastMs, this.#keepTime(nowMs)));
    const usedSlot = String(Math.floor(lastMs / (perMs / 1000)));
    const known = entries.find((entry) => entry.perMs === perMs && entry.slot === usedSlot);
    if (known === undefined) {
      entries.push({ perMs, slot: usedSlot, permits: used, lastMs, open: false });
      return;
    }
    known.permits += used;
    known.lastMs = Math.max(known.lastMs, lastMs);
  }

  use({ perMs }: Pick<Rate, "perMs">, nowMs: number): { spent: number; nextAtMs: number } {
    const timeMs = this.#timeAt(nowMs);
    let [spent, nextMs] = [0, Number.POSITIVE_INFINITY];
    for (const { perMs: ownMs, permits, lastMs, open } of this.state.entries) {
      if (ownMs !== perMs || lastMs + perMs <= timeMs) continue;
      spent += permits;
      nextMs = Math.min(nextMs, lastMs + (open && lastMs > timeMs ? 0 : perMs));
    }
    return { spent, nextAtMs: nextMs - timeMs + nowMs };
  }

  /** The time of the counts when the wall clock shows `nowMs`. */
  #timeAt(nowMs: number): number {
    const { ms, clockMs } = this.state;
    return nowMs >= ms ? nowMs : ms + Math.max(0, nowMs - clockMs);
  }

  #keepTime(clockMs: number): number {
    const { state } = this;
    const ms = this.#timeAt(clockMs);
    const behindMs = state.clockMs - clockMs;
    const isDisorder = behindMs > 0 && behindMs <= disorderMs;
    if (!isDisorder) Object.assign(state, { ms, clockMs });
    return ms;
  }
}
