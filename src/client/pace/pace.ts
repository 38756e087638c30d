import { longestWaitMs } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import { isQuota, type Rate, tightest } from "../../core/options.js";
import { Quota, type QuotaStore } from "../store/quota.js";
import { FairQueue } from "./slots.js";
import { Limits } from "./limits.js";

/** Decides when each request may start, for one run or for all that share the pace. */
export interface RequestPace {
  /**
   * Resolves when a request may start, to a ticket that dates it relative to throttling.
   *
   * @throws the signal's reason if it aborts first; an EarlyEndError if the run has to end, resumable
   */
  take(signal: AbortSignal): Promise<number>;
  /**
   * Reports a throttle answer.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(afterMs: number | null, ticket: number): void;
  /** Reports any other answer. */
  succeeded(ticket: number): void;
  /** The service declares its limit used up for `ms` milliseconds. */
  hold(ms: number): void;
  /** The service declares a rate; `by` names the source, such as an endpoint. */
  advise(by: string, rate: Rate): void;
}

interface PaceOptions {
  /** All rates apply; none means no limit. Quotas are those over an hour or longer. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  readonly random?: () => number;
  /** Counts quotas; required if there is one. */
  readonly quotas?: QuotaStore | undefined;
  /** Called when a quota is used up for more than a minute; without a rate, it is the service's own. */
  readonly onUsedUp?: ((rate: Rate | null, resumesAtMs: number) => void) | undefined;
}

/** Maximum single sleep in milliseconds: timers accept at most 2^31. */
const longestSleepMs = 3_600_000;

/** Quotas that free up within this time, in milliseconds, are waited for. */
const longestQuotaWaitMs = 60_000;

/** After this long without a request, and at the start, there is no backlog to catch up with. */
const idleMs = 1_000;

/**
 * The first request after that opens a connection and may arrive this much later than it was sent; the
 * following requests keep that distance so that they don't arrive together.
 */
const leadMs = 40;

/** When the next request is due in a window: on average, and while catching up. */
interface Due {
  readonly averageMs: number;
  readonly fastMs: number;
}

/**
 * The pace of a run, shared by all attempts of all endpoints. Keeps rates and quotas, and pauses
 * everything when the service throttles.
 *
 * Rates are the generic cell rate algorithm (ITU-T I.371, annex A). Requests are spaced evenly, so no
 * window edge lets two windows' worth through. A late request doesn't delay those behind it: two cells a
 * window, one at the rate with a wide tolerance and a slightly faster one with a narrow tolerance, allow
 * catching up, while no second has more than 105% of the rate in whole requests. Rates below 20 per second
 * are never exceeded.
 */
export class Pace implements RequestPace {
  readonly limits: Limits;
  readonly #due = new Map<string, Due>();
  #lastMs = -2 * idleMs;
  readonly #quotas: readonly Quota[];
  readonly #options: PaceOptions;
  readonly #queue = new FairQueue<number>(() => this.#stop());
  #timer: AbortController | null = null;
  /** Whether timers are too coarse for the next request. */
  #isExact = false;

  constructor(options: PaceOptions) {
    const { rates, clock, quotas: store, random } = options;
    this.#options = options;
    this.limits = new Limits({ rates, random, now: () => clock.monotonic() });
    this.#quotas = tightest(rates.filter(isQuota)).map((rate) => {
      if (store === undefined) throw new TypeError("a quota needs a store that counts it");
      return new Quota({ rate, store, clock });
    });
  }

  take(signal: AbortSignal): Promise<number> {
    this.#tellPause();
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#spend() <= 0) return Promise.resolve(this.limits.ticket);
    const turn = this.#queue.enqueue(signal);
    if (this.#timer === null) this.#wake();
    return turn;
  }

  throttled(afterMs: number | null, ticket = this.limits.ticket): void {
    this.limits.throttled(afterMs, ticket);
    this.#tellPause();
  }

  succeeded(ticket = this.limits.ticket): void {
    this.limits.succeeded(ticket);
  }

  hold(ms: number): void {
    this.limits.hold(ms);
    this.#tellPause();
  }

  advise(by: string, rate: Rate): void {
    this.limits.advise(by, rate);
  }

  /** Returns unused reservations. Call when the run is over. */
  giveBack(): void {
    this.#stop();
    for (const quota of this.#quotas) quota.giveBack();
  }

  /**
   * Spends a request that may start now.
   *
   * @returns milliseconds until one may; 0 or less if it was spent
   */
  #spend(): number {
    const now = this.#options.clock.monotonic();
    let at = this.limits.pausedUntil;
    for (const { averageMs, fastMs } of this.#due.values()) at = Math.max(at, averageMs, fastMs);
    if (at > now) return at - now;
    // Quotas come last: asking one may reserve permits, which should be used soon.
    const quotaWait = this.#quotaWait();
    if (quotaWait > 0) return quotaWait;
    this.#useSlot(now);
    for (const quota of this.#quotas) quota.spend();
    return 0;
  }

  #useSlot(now: number): void {
    const { limits } = this;
    const lastMs = this.#lastMs;
    this.#lastMs = now;
    limits.sent++;
    this.#isExact = false;
    for (const { name, interval, backlog, fast, late, isExact } of limits.windows()) {
      this.#isExact ||= isExact;
      const { averageMs, fastMs } = this.#due.get(name) ?? { averageMs: lastMs, fastMs: lastMs };
      let [average, soonest] = [now - backlog, now - late];
      if (name === "found") limits.idleMs += Math.max(0, average - averageMs);
      else if (now - lastMs > idleMs) [average, soonest] = [now, late > 0 ? now + leadMs : now];
      this.#due.set(name, {
        averageMs: Math.max(averageMs, average) + interval,
        fastMs: Math.max(fastMs, soonest) + fast,
      });
    }
  }

  #quotaWait(): number {
    let longest = 0;
    for (const quota of this.#quotas) {
      const wait = quota.wait();
      longest = Math.max(longest, wait);
      if (wait <= longestQuotaWaitMs) continue;
      this.#options.onUsedUp?.(quota.rate, this.#options.clock.now() + wait);
    }
    return longest;
  }

  /** Nobody waits for the service's own quota, which it names by the length of a pause. */
  #tellPause(): void {
    const { pausedMs } = this.limits;
    if (pausedMs <= longestWaitMs) return;
    this.#options.onUsedUp?.(null, this.#options.clock.now() + pausedMs);
  }

  /** Releases every request that may start, and sets the single timer for the next. */
  #wake(): void {
    while (this.#queue.size > 0) {
      const wait = this.#spend();
      if (wait <= 0) this.#queue.release(this.limits.ticket);
      // `onUsedUp` may have ended the waiting requests.
      else if (this.#queue.size > 0) return this.#sleep(wait);
      else return;
    }
  }

  #sleep(wait: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    // Timers have millisecond granularity; one that fires early would have to be set again.
    const ms = this.#isExact ? wait : Math.max(1, Math.ceil(wait));
    this.#options.clock.sleep(Math.min(longestSleepMs, ms), timer.signal, this.#isExact).then(
      () => {
        this.#timer = null;
        this.#wake();
      },
      () => undefined,
    );
  }

  #stop(): void {
    this.#timer?.abort();
    this.#timer = null;
  }
}
