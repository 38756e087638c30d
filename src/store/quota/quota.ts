import type { Clock } from "../../core/clock.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { QuotaStore, Reservation } from "./quota-store.js";

/** Permits are taken from the store in blocks: this share of the quota, between these bounds. */
const block = { share: 0.01, most: 2_000, ms: 10_000 };

/** When to ask again while a reservation is on its way to the disk, in milliseconds. */
const askAgainMs = 2;

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
 * Permits are reserved in blocks, each to be used within seconds. They count from the end of that
 * time, which is later than any of them was used, so the quota is never exceeded.
 */
export class Quota {
  readonly rate: Rate;
  readonly #options: QuotaOptions;
  #held: { id: string; permits: number; used: number; untilMs: number } | null = null;
  #nextAtMs = Number.NEGATIVE_INFINITY;
  /** A reservation on its way. */
  #pending: Promise<void> | null = null;

  constructor(options: QuotaOptions) {
    this.rate = options.rate;
    this.#options = options;
  }

  /** Milliseconds until the next request may begin; 0 when it may at once. */
  wait(): number {
    const nowMs = this.#options.clock.now();
    const held = this.#held;
    if (this.#pending !== null) return askAgainMs;
    if (held !== null && held.used < held.permits && nowMs < held.untilMs) return 0;
    if (nowMs < this.#nextAtMs) return this.#nextAtMs - nowMs;
    const untilMs = nowMs + block.ms;
    const got = this.#reserve(nowMs, untilMs);
    if (!(got instanceof Promise)) {
      this.#take(got, untilMs);
      return got.permits > 0 ? 0 : Math.max(1, got.nextAtMs - nowMs);
    }
    this.#pending = got.then((reservation) => {
      this.#pending = null;
      this.#take(reservation, untilMs);
    });
    return askAgainMs;
  }

  /** Spends one request; only after `wait` said 0. */
  spend(): void {
    if (this.#held !== null) this.#held.used++;
  }

  /** Gives back what is reserved and not used: the run is over. */
  async giveBack(): Promise<void> {
    await this.#pending;
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    const { store, name, clock } = this.#options;
    await store.settle(name, held.id, held.used, clock.now());
  }

  #reserve(nowMs: number, untilMs: number): Reservation | Promise<Reservation> {
    const { rate, store, name } = this.#options;
    const held = this.#held;
    const want = Math.min(block.most, Math.ceil(rate.count * block.share));
    const before = held === null ? undefined : { id: held.id, used: held.used };
    return store.reserve(name, { rate, want, nowMs, untilMs, before });
  }

  #take({ id, permits, nextAtMs, busy = false }: Reservation, untilMs: number): void {
    if (permits === 0) this.#nextAtMs = nextAtMs;
    // What is held then is still to be settled.
    if (!busy) this.#held = permits === 0 ? null : { id, permits, used: 0, untilMs };
  }
}

/** Name under which a rate is counted: windows of different lengths have counts of their own. */
export function quotaName(scope: string, { perMs }: Rate): string {
  return `${scope} ${perMs}`;
}

/** The quotas among rates; of several with the same window, which share a count, the lowest. */
export function tightestQuotas(rates: readonly Rate[]): readonly Rate[] {
  const byWindow = new Map<number, Rate>();
  for (const rate of rates.filter(isQuota)) {
    const known = byWindow.get(rate.perMs);
    if (known === undefined || rate.count < known.count) byWindow.set(rate.perMs, rate);
  }
  return [...byWindow.values()];
}
