import type { Clock } from "../../core/clock.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { RequestPace } from "./request-pace.js";
import { AdaptiveRate } from "./adaptive-rate.js";
import { Gcra } from "./gcra.js";
import { Quota, quotaName, tightestQuotas } from "../../store/quota/quota.js";
import { MemoryQuotaStore, type QuotaStore } from "../../store/quota/quota-store.js";
import { type LimitKnowledge, ThrottlePauses } from "./throttle-pauses.js";
import { FairQueue } from "./fair-queue.js";

export interface PaceOptions {
  /** All rates apply; none means no limit. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /** Whether to learn an undeclared limit from throttle answers. Default false: only pause. */
  readonly adaptive?: boolean;
  /** Whether requests wait for another pace after this one, as with `ownPace`. Default false. */
  readonly isShare?: boolean;
  /** Counts rates over an hour or longer. Default: in memory. */
  readonly quotas?: { readonly store: QuotaStore; readonly name: string } | undefined;
  /** Called when a rate over an hour or longer is used up for more than a minute. */
  readonly onUsedUp?: ((rate: Rate, resumesAtMs: number) => void) | undefined;
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Requests that test whether a pause was long enough, and the interval of more if none is answered. */
const probes = { atOnce: 2, apartMs: 1_000 };

/** Quotas that free up within this time are waited for. */
const longestQuotaWaitMs = 60_000;

/** Maximum single sleep in milliseconds: timers accept at most 2^31. */
const longestSleepMs = 3_600_000;

/**
 * The pace of a run, shared by all attempts of all endpoints. Keeps the given rates and pauses
 * everything when the service throttles.
 */
export class Pace implements RequestPace {
  readonly #windows: readonly Gcra[];
  readonly #quotas: readonly Quota[];
  /** Rates that the service declares, by source; they apply in addition to the given ones. */
  readonly #advised = new Map<string, { readonly rate: Rate; readonly window: Gcra }>();
  readonly #adaptive: AdaptiveRate | null;
  readonly #onUsedUp: PaceOptions["onUsedUp"];
  readonly #clock: Clock;
  readonly #pauses: ThrottlePauses;
  /** Number of pauses so far. Tells whether an answered request was sent before the last pause. */
  #ticket = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /**
   * After a pause, until an answer proves it long enough: the number of requests sent since and the time
   * of the last one.
   */
  #probe: { left: number; lastMs: number } | null = null;
  readonly #isShare: boolean;
  /** If `isShare`: requests released here that have not ended. */
  #underWay = 0;
  /** Reported when they have all ended: a quota is used up when its last request is. */
  #usedUp: { readonly rate: Rate; readonly resumesAtMs: number } | null = null;
  #timer: AbortController | null = null;
  readonly #queue = new FairQueue<number>(() => {
    this.#timer?.abort();
    this.#timer = null;
  });

  constructor(options: PaceOptions) {
    const { rates, clock, quotas, onUsedUp, random = Math.random } = options;
    this.#adaptive = options.adaptive === true ? new AdaptiveRate() : null;
    this.#windows = rates.filter((rate) => !isQuota(rate)).map((rate) => new Gcra(rate));
    const { store, name } = quotas ?? { store: new MemoryQuotaStore(), name: "" };
    this.#quotas = tightestQuotas(rates).map(
      (rate) => new Quota({ rate, store, name: quotaName(name, rate), clock }),
    );
    this.#isShare = options.isShare ?? false;
    this.#onUsedUp = onUsedUp;
    this.#clock = clock;
    this.#pauses = new ThrottlePauses(random);
  }

  /**
   * Resolves when a request may start, first come, first served. Pass the ticket to `throttled` or
   * `succeeded` with the answer.
   *
   * @throws the signal's reason if it aborts first
   */
  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#leave()) return Promise.resolve(this.#ticket);
    const turn = this.#queue.enqueue(signal);
    this.#wake();
    return turn;
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for; null for a pause that doubles from 1 s to 60 s
   *   while it answers nothing else (see `ThrottlePauses`)
   */
  throttled(afterMs: number | null, ticket = this.#ticket): void {
    this.#pauses.answered(true);
    const known = ticket !== this.#ticket;
    this.#adaptive?.throttled(this.#clock.monotonic(), ticket, this.#ticket);
    if (known && afterMs === null) return;
    const now = this.#clock.monotonic();
    const until = now + (afterMs ?? this.#pauses.next(this.#limit));
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
    this.#adaptive?.paused(now, until);
    if (known) return;
    this.#pauses.begun();
    this.#ticket++;
    if (this.#adaptive?.limited && this.#pauses.streak > 1) this.#probe = { left: 0, lastMs: now };
  }

  /** Number of pauses so far. */
  get pauses(): number {
    return this.#ticket;
  }

  /** Reports any other answer. */
  succeeded(ticket = this.#ticket): void {
    this.#pauses.answered(false);
    this.#adaptive?.accepted(this.#clock.monotonic(), ticket);
    // The pauses before this request were long enough.
    this.#pauses.sufficed(this.#ticket - ticket);
    if (this.#probe === null || ticket !== this.#ticket) return;
    this.#probe = null;
    this.#timer?.abort();
    this.#timer = null;
    this.#wake();
  }

  /** The service declares its limit used up: nothing is sent for `ms` milliseconds. */
  hold(ms: number): void {
    const now = this.#clock.monotonic();
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#adaptive?.paused(now, now + ms);
  }

  /** Reports the end of a request released here; only for paces with `isShare`. */
  ended(): void {
    if (--this.#underWay === 0) this.#tellUsedUp();
  }

  /**
   * The service declares a rate: it applies until the same source declares another.
   *
   * @param by the source, such as an endpoint
   */
  advise(by: string, rate: Rate): void {
    const known = this.#advised.get(by)?.rate;
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised.set(by, { rate, window: new Gcra(rate) });
  }

  /** Returns unused reservations to quotas. Call when the run is over. */
  async giveBack(): Promise<void> {
    for (const quota of this.#quotas) await quota.giveBack();
  }

  get #limit(): LimitKnowledge {
    if (this.#adaptive === null) return "none";
    return this.#adaptive.limited && !this.#adaptive.noisy ? "found" : "searched";
  }

  /** True if a request may start; it is spent then. */
  #leave(): boolean {
    const now = this.#clock.monotonic();
    if (this.#waitAt(now) > 0) return false;
    for (const window of this.#windows) window.spend(now);
    for (const { window } of this.#advised.values()) window.spend(now);
    for (const quota of this.#quotas) quota.spend();
    if (this.#isShare) this.#underWay++;
    this.#adaptive?.spend(now);
    if (this.#probe !== null) {
      this.#probe.left++;
      this.#probe.lastMs = now;
    }
    return true;
  }

  #waitAt(now: number): number {
    let wait = Math.max(this.#pausedUntil - now, this.#adaptive?.waitAt(now) ?? 0);
    for (const window of this.#windows) wait = Math.max(wait, window.waitAt(now));
    for (const { window } of this.#advised.values()) wait = Math.max(wait, window.waitAt(now));
    if (this.#probe !== null && this.#probe.left >= probes.atOnce) {
      wait = Math.max(wait, this.#probe.lastMs + probes.apartMs - now);
    }
    // Quotas come last: asking one may reserve permits, which should be used soon.
    if (wait > 0) return wait;
    for (const quota of this.#quotas) wait = Math.max(wait, this.#quotaWait(quota));
    return wait;
  }

  #quotaWait(quota: Quota): number {
    const wait = quota.wait();
    if (wait <= longestQuotaWaitMs) return wait;
    this.#usedUp = { rate: quota.rate, resumesAtMs: this.#clock.now() + wait };
    if (this.#underWay === 0) this.#tellUsedUp();
    return wait;
  }

  #tellUsedUp(): void {
    const usedUp = this.#usedUp;
    this.#usedUp = null;
    if (usedUp !== null) this.#onUsedUp?.(usedUp.rate, usedUp.resumesAtMs);
  }

  /** Releases every request that may start, and sets the single timer for the next. */
  #wake(): void {
    if (this.#timer !== null) return;
    while (this.#queue.size > 0) {
      if (!this.#leave()) {
        // The listener told about a used-up quota may have ended the waiting requests.
        if (this.#queue.size > 0) this.#sleep();
        return;
      }
      this.#queue.release(this.#ticket);
    }
  }

  #sleep(): void {
    const timer = new AbortController();
    this.#timer = timer;
    const wake = (): void => {
      this.#timer = null;
      this.#wake();
    };
    // Timers have millisecond granularity; one that fires early would have to be set again.
    const ms = Math.min(
      longestSleepMs,
      Math.max(1, Math.ceil(this.#waitAt(this.#clock.monotonic()))),
    );
    this.#clock.sleep(ms, timer.signal).then(wake, () => undefined);
  }
}
