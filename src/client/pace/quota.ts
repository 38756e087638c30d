import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import type { QuotaStore } from "./quota-counts.js";

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

interface QuotaOptions {
  readonly rate: Rate;
  readonly store: QuotaStore;
  readonly clock: Clock;
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
  readonly #options: QuotaOptions;
  #held: Held | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: QuotaOptions) {
    this.rate = options.rate;
    this.#options = options;
  }

  /** Milliseconds until the next request may start; 0 for now. */
  wait(): number {
    const { clock, store } = this.#options;
    const { rate } = this;
    const [nowMs, monotonicMs] = [clock.now(), clock.monotonic()];
    const held = this.#held;
    const isInTime = held !== null && nowMs < held.untilMs && monotonicMs < held.monotonicUntilMs;
    if (isInTime && held.used < held.permits) return 0;
    if (nowMs < this.#nextAtMs) return this.#nextAtMs - nowMs;
    const want = Math.min(block.most, Math.ceil(rate.count * block.share));
    const untilMs = nowMs + block.ms;
    const got = store.change((counts) => {
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
    const { store, clock } = this.#options;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const { slot, used } = held;
    store.change((counts) => counts.settle(this.rate.perMs, slot, used, clock.now()));
  }
}
