import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";
import type { QuotaStore } from "./quota-store.js";

/** Permits are taken from the store in blocks: this share of the quota, between these bounds. */
const block = { share: 0.01, most: 256, ms: 10_000 };

export interface QuotaOptions {
  readonly rate: Rate;
  readonly store: QuotaStore;
  /** Under which name it is counted: what shares the name shares the quota. */
  readonly name: string;
  readonly clock: Clock;
}

/**
 * A limit over an hour or longer: never more than its count in any window of that length, spent as
 * fast as other limits let it. By the wall's clock, since it outlives the process.
 *
 * Permits are reserved in blocks that are to be used within seconds and count from the end of that
 * time on, which is later than any of them was used: the count errs on the safe side, never over.
 */
export class Quota {
  readonly rate: Rate;
  readonly #options: QuotaOptions;
  #held: { id: string; permits: number; used: number; untilMs: number } | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: QuotaOptions) {
    this.rate = options.rate;
    this.#options = options;
  }

  /** Milliseconds until the next request may begin; 0 when it may at once. */
  wait(): number {
    const { rate, store, name, clock } = this.#options;
    const nowMs = clock.now();
    const held = this.#held;
    if (held !== null && held.used < held.permits && nowMs < held.untilMs) return 0;
    if (nowMs < this.#nextAtMs) return this.#nextAtMs - nowMs;
    if (held !== null) this.giveBack();
    const untilMs = nowMs + block.ms;
    const want = Math.min(block.most, Math.ceil(rate.count * block.share));
    const got = store.reserve(name, { rate, want, nowMs, untilMs });
    if (got.permits === 0) {
      this.#nextAtMs = got.nextAtMs;
      return Math.max(1, got.nextAtMs - nowMs);
    }
    this.#held = { id: got.id, permits: got.permits, used: 0, untilMs };
    return 0;
  }

  /** Spends one request; only after `wait` said 0. */
  spend(): void {
    if (this.#held !== null) this.#held.used++;
  }

  /** Gives back what is reserved and not used: the run is over. */
  giveBack(): void {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const { store, name, clock } = this.#options;
    store.settle(name, held.id, held.used, clock.now());
  }
}
