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
  /** All of them are kept; none for no limit. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /** Find a limit that is not given from the throttle answers. Default false: pauses alone. */
  readonly adaptive?: boolean;
  /** What takes its leave here waits for another pace before it is sent, as under `share`. Default false. */
  readonly isShare?: boolean;
  /** Where rates over an hour and longer are counted. Default: in memory. */
  readonly quotas?: { readonly store: QuotaStore; readonly name: string } | undefined;
  /** Told when a rate over an hour or longer is used up for more than a minute. */
  readonly onUsedUp?: ((rate: Rate, goesOnAtMs: number) => void) | undefined;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** So many find out whether a pause was long enough; where none is answered, one more at intervals. */
const probes = { atOnce: 2, apartMs: 1_000 };

/** A quota that comes free within this time is waited for. */
const longestQuotaWaitMs = 60_000;

/** Longest single sleep, in milliseconds: timers take no more than 2^31. */
const longestSleepMs = 3_600_000;

/**
 * The pace of a run: every attempt of every endpoint takes its leave here. It keeps the given rates
 * and holds everything back for a while when the service throttles.
 */
export class Pace implements RequestPace {
  readonly #windows: readonly Gcra[];
  readonly #quotas: readonly Quota[];
  /** The rates that the service tells of, by who said so; kept beside those that are given. */
  readonly #advised = new Map<string, { readonly rate: Rate; readonly window: Gcra }>();
  readonly #adaptive: AdaptiveRate | null;
  readonly #onUsedUp: PaceOptions["onUsedUp"];
  readonly #clock: Clock;
  readonly #pauses: ThrottlePauses;
  /** Counts the pauses, so that an answer to a request from before a pause is known as such. */
  #ticket = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /**
   * After a pause, until an answer shows that it was long enough: how many left since, and when the
   * last one did.
   */
  #probe: { left: number; lastMs: number } | null = null;
  readonly #isShare: boolean;
  /** Of a share: requests that took their leave and have not ended. */
  #underWay = 0;
  /** What is to be told when there are none of them: a quota is used up when its last is used. */
  #usedUp: { readonly rate: Rate; readonly goesOnAtMs: number } | null = null;
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
   * Resolves when a request may leave; first come, first served. What it resolves to is to be handed
   * to `throttled` or `succeeded` with the answer.
   *
   * @throws the signal's reason when it aborts first
   */
  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#leave()) return Promise.resolve(this.#ticket);
    const turn = this.#queue.enqueue(signal);
    this.#wake();
    return turn;
  }

  /**
   * The service answered that it wants fewer requests: nothing leaves until it may have recovered.
   *
   * @param afterMs its own wish, or null for a pause that doubles from 1 s to 60 s while nothing else
   *   is answered, as `ThrottlePauses` has it
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

  /** The service answered a request otherwise. */
  succeeded(ticket = this.#ticket): void {
    this.#pauses.answered(false);
    this.#adaptive?.accepted(this.#clock.monotonic(), ticket);
    // The pauses before this request left were long enough.
    this.#pauses.sufficed(this.#ticket - ticket);
    if (this.#probe === null || ticket !== this.#ticket) return;
    this.#probe = null;
    this.#timer?.abort();
    this.#timer = null;
    this.#wake();
  }

  /** The service says that nothing is left for a while: nothing leaves until then. */
  hold(ms: number): void {
    const now = this.#clock.monotonic();
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#adaptive?.paused(now, now + ms);
  }

  /**
   * A request that took its leave here, and perhaps waited for another, has ended; only for paces that
   * are a share.
   */
  ended(): void {
    if (--this.#underWay === 0) this.#tellUsedUp();
  }

  /**
   * The service says which rate it allows: no more than that leaves, until it says otherwise.
   *
   * @param by which part of the service says so; what another part said stands
   */
  advise(by: string, rate: Rate): void {
    const known = this.#advised.get(by)?.rate;
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised.set(by, { rate, window: new Gcra(rate) });
  }

  /** Returns to quotas what was reserved and not used. Call when the run is over. */
  async giveBack(): Promise<void> {
    for (const quota of this.#quotas) await quota.giveBack();
  }

  get #limit(): LimitKnowledge {
    if (this.#adaptive === null) return "none";
    return this.#adaptive.limited && !this.#adaptive.noisy ? "found" : "searched";
  }

  /** True when a request may leave; it is noted then. */
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
    // Quotas last: asking one may reserve permits, which are to be used soon.
    if (wait > 0) return wait;
    for (const quota of this.#quotas) wait = Math.max(wait, this.#quotaWait(quota));
    return wait;
  }

  #quotaWait(quota: Quota): number {
    const wait = quota.wait();
    if (wait <= longestQuotaWaitMs) return wait;
    this.#usedUp = { rate: quota.rate, goesOnAtMs: this.#clock.now() + wait };
    if (this.#underWay === 0) this.#tellUsedUp();
    return wait;
  }

  #tellUsedUp(): void {
    const usedUp = this.#usedUp;
    this.#usedUp = null;
    if (usedUp !== null) this.#onUsedUp?.(usedUp.rate, usedUp.goesOnAtMs);
  }

  /** Releases every request that may leave, and sets the one timer for the next. */
  #wake(): void {
    if (this.#timer !== null) return;
    while (this.#queue.size > 0) {
      if (!this.#leave()) {
        // The listener told of a used-up quota may have ended the waiting requests.
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
    // Timers have a granularity of a millisecond; one that ends early would only be set again.
    const ms = Math.min(
      longestSleepMs,
      Math.max(1, Math.ceil(this.#waitAt(this.#clock.monotonic()))),
    );
    this.#clock.sleep(ms, timer.signal).then(wake, () => undefined);
  }
}
