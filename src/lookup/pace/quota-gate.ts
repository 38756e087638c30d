import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import { Quota, quotaName, type QuotaStore, tightestQuotas } from "../../store/quota/quota.js";

/** Quotas that free up within this time are waited for. */
const longestWaitMs = 60_000;

export interface QuotaGateOptions {
  /** All rates apply; none means no limit. Quotas are those over an hour or longer. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /** Counts them; required if there is one. */
  readonly quotas?: { readonly store: QuotaStore; readonly name: string } | undefined;
  /** Called when one is used up for more than a minute. */
  readonly onUsedUp?: ((rate: Rate, resumesAtMs: number) => void) | undefined;
  /** Whether requests wait for another pace after this one. */
  readonly isShare?: boolean | undefined;
}

export class QuotaGate {
  readonly #quotas: readonly Quota[];
  readonly #options: QuotaGateOptions;
  /** If `isShare`: requests let through that have not ended. */
  #underWay = 0;
  /** Reported when they have all ended: a quota is used up when its last request is. */
  #usedUp: { readonly rate: Rate; readonly resumesAtMs: number } | null = null;

  constructor(options: QuotaGateOptions) {
    const { rates, clock, quotas } = options;
    this.#options = options;
    this.#quotas = tightestQuotas(rates).map((rate) => {
      if (quotas === undefined) throw new TypeError("a quota needs a store that counts it");
      return new Quota({ rate, store: quotas.store, name: quotaName(quotas.name, rate), clock });
    });
  }

  /** Milliseconds until the next request may start. May reserve permits, which should be used soon. */
  wait(): number {
    let wait = 0;
    for (const quota of this.#quotas) wait = Math.max(wait, this.#waitFor(quota));
    return wait;
  }

  /** Spends one request. Call only after `wait` returned 0. */
  spend(): void {
    for (const quota of this.#quotas) quota.spend();
    if (this.#options.isShare === true) this.#underWay++;
  }

  /** Reports the end of a request; only with `isShare`. */
  ended(): void {
    if (--this.#underWay === 0) this.#tellUsedUp();
  }

  /** Returns unused reservations. Call when the run is over. */
  async giveBack(): Promise<void> {
    for (const quota of this.#quotas) await quota.giveBack();
  }

  #waitFor(quota: Quota): number {
    const wait = quota.wait();
    if (wait <= longestWaitMs) return wait;
    this.#usedUp = { rate: quota.rate, resumesAtMs: this.#options.clock.now() + wait };
    if (this.#underWay === 0) this.#tellUsedUp();
    return wait;
  }

  #tellUsedUp(): void {
    const usedUp = this.#usedUp;
    this.#usedUp = null;
    if (usedUp !== null) this.#options.onUsedUp?.(usedUp.rate, usedUp.resumesAtMs);
  }
}
