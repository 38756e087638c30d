import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";

/** Permits are reserved in blocks: a share of the quota, at most this many, for this long. */
const block = { share: 0.01, most: 2_000, ms: 10_000 };

/** Time after which a store that could not be changed is tried again, in milliseconds. */
const retryMs = 250;

/** A reserved block. Its deadline is kept by both clocks: one may jump back, the other stands still in sleep. */
interface Held {
  readonly slot: string;
  readonly permits: number;
  used: number;
  readonly untilMs: number;
  readonly monotonicUntilMs: number;
}

/**
 * A limit over an hour or longer: never more than `rate.count` requests in any window of
 * `rate.perMs`, spent as fast as the other limits allow. Uses the wall clock, because it outlives
 * the process.
 *
 * Permits are reserved in blocks with a deadline of a few seconds and count from that deadline,
 * which is later than any use of them, so the quota is never exceeded.
 */
export class Quota {
  readonly rate: Rate;
  readonly #store: QuotaStore;
  readonly #clock: Clock;
  #held: Held | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(rate: Rate, store: QuotaStore, clock: Clock) {
    this.rate = rate;
    this.#store = store;
    this.#clock = clock;
  }

  /** Milliseconds until the next request may start; 0 for now. */
  wait(): number {
    const { rate } = this;
    const [nowMs, monotonicMs] = [this.#clock.now(), this.#clock.monotonic()];
    const held = this.#held;
    const isInTime = held !== null && nowMs < held.untilMs && monotonicMs < held.monotonicUntilMs;
    if (isInTime && held.used < held.permits) return 0;
    if (nowMs < this.#nextAtMs) return this.#nextAtMs - nowMs;
    const want = Math.min(block.most, Math.ceil(rate.count * block.share));
    const untilMs = nowMs + block.ms;
    const got = this.#store.change((counts) => {
      if (held !== null) counts.settle(rate.perMs, held.slot, held.used, nowMs);
      return counts.reserve(rate, want, nowMs, untilMs);
    });
    if (got !== null && got.permits > 0) {
      this.#held = { ...got, used: 0, untilMs, monotonicUntilMs: monotonicMs + block.ms };
      return 0;
    }
    // What could not be settled is kept, to be settled later.
    if (got !== null) this.#held = null;
    this.#nextAtMs = got?.nextAtMs ?? nowMs + retryMs;
    return Math.max(1, this.#nextAtMs - nowMs);
  }

  /** Spends one request. Call only after `wait` returned 0. */
  spend(): void {
    if (this.#held !== null) this.#held.used++;
  }

  /** Returns unused permits at the end of a run. What cannot be settled stays counted in full. */
  giveBack(): void {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const nowMs = this.#clock.now();
    this.#store.change((counts) => counts.settle(this.rate.perMs, held.slot, held.used, nowMs));
  }
}

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
   * Reserves permits for one process, which settles what it used.
   *
   * @param want how many, 1 or more
   * @param untilMs deadline for using them. They count from then on, for the length of the window
   * @returns `permits`: 0 if the quota is used up. `nextAtMs`: when the next ones may become free, at
   *   the end of a reservation or of its window
   */
  reserve(rate: Rate, want: number, nowMs: number, untilMs: number) {
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
