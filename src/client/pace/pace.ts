import { isOverQuota, longestWaitMs } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import { counted } from "../../core/wording/quantity.js";
import { isQuota, type Rate, tightest } from "../../core/options.js";
import type { ServiceError } from "../api/status-fault.js";
import { Quota, QuotaCounts, type QuotaStore } from "./quota.js";
import { FairQueue } from "./slots.js";
import { AdaptiveRate } from "./adaptive-rate.js";

/** Decides when each request may start, for one run or for all that share the pace. */
export type RequestPace = Pick<Pace, "take" | "throttled" | "succeeded" | "hold" | "advise">;

/** Reports how a request ended. */
export function reportTo(
  pace: RequestPace,
  ticket: number,
  { again, httpStatus }: Pick<ServiceError, "again" | "httpStatus">,
): void {
  const isThrottled = again?.policy === "throttled" || isOverQuota({ again });
  if (isThrottled) pace.throttled(again?.afterMs ?? null, ticket);
  // Any other answer proves that the service accepts requests; a missing answer does not.
  else if (httpStatus !== null) pace.succeeded(ticket);
}

interface PaceOptions {
  /** All rates apply; none means no limit. Quotas are those over an hour or longer. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  readonly random?: () => number;
  /** Counts quotas. @default in memory */
  readonly quotas?: QuotaStore | undefined;
  /** Called when a quota, or the service's own, is used up for more than a minute. */
  readonly onUsedUp?: ((error: EarlyEndError) => void) | undefined;
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

/** The limit of a rate. Times are milliseconds. */
interface PaceWindow {
  readonly name: string;
  /** Interval between requests on average. */
  readonly interval: number;
  /** Maximum backlog that may be caught up with. */
  readonly backlog: number;
  /** Interval while catching up. */
  readonly fast: number;
  /** How late a request may start. */
  readonly late: number;
  /** Whether timers are too coarse for it. */
  readonly isExact: boolean;
}

/** First and longest pause after a throttle answer without `Retry-After`, and the random extra. */
const pauses = { firstMs: 40, longestMs: 60_000, spread: 0.25 };

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
export class Pace {
  /** Number of times so far that something was learned or a pause began. Dates requests. */
  #ticket = 0;
  /** Ticket of the last request that was accepted. */
  #good = 0;
  /** 0 before the first pause. */
  #pausedUntil = 0;
  #sent = 0;
  /** Time in which the rate that was found was not used up. */
  #idleMs = 0;
  /** What throttle answers show. */
  readonly #found = new AdaptiveRate(() => this.#sent);
  /** Windows of the given rates and of the declared ones, by name. */
  readonly #windows = new Map<string, PaceWindow>();
  readonly #due = new Map<string, Due>();
  #lastMs = -2 * idleMs;
  readonly #quotas: readonly Quota[];
  readonly #options: PaceOptions;
  readonly #queue = new FairQueue<number>(() => this.#stop());
  #isSpacedLater = false;
  #timer: AbortController | null = null;
  /** Whether timers are too coarse for the next request. */
  #isExact = false;

  constructor(options: PaceOptions) {
    const { rates, clock, quotas = new QuotaCounts() } = options;
    this.#options = options;
    for (const rate of tightest(rates.filter((one) => !isQuota(one)))) {
      this.#keep(`per ${rate.perMs}`, rate);
    }
    this.#quotas = tightest(rates.filter(isQuota)).map((rate) => new Quota(rate, quotas, clock));
  }

  /** Milliseconds until the pause ends; 0 without one. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.#options.clock.monotonic());
  }

  /**
   * Resolves when a request may start, to a ticket that dates it relative to throttling.
   *
   * @throws the signal's reason if it aborts first; an EarlyEndError if the run has to end, resumable
   */
  take(signal: AbortSignal): Promise<number> {
    this.#tellPause();
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#spend() <= 0) return Promise.resolve(this.#ticket);
    const turn = this.#queue.enqueue(signal);
    if (this.#timer === null) this.#wake();
    return turn;
  }

  /**
   * Reports a throttle answer. Nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(afterMs: number | null, ticket = this.#ticket): void {
    const isMuch = this.#found.throttled(this.#usedMs(), ticket, this.#ticket, afterMs ?? 0);
    const isNews = ticket === this.#ticket;
    if (afterMs === null && !(isNews && isMuch)) return;
    if (isNews) this.#ticket++;
    const { random = Math.random } = this.#options;
    this.hold(afterMs ?? pauseMs(ticket - this.#good, random()));
  }

  /** Reports any other answer. */
  succeeded(ticket = this.#ticket): void {
    this.#good = Math.max(this.#good, ticket);
    if (this.#found.accepted(this.#usedMs(), ticket)) this.#ticket++;
  }

  /** The service declares its limit used up for `ms` milliseconds. */
  hold(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#options.clock.monotonic() + ms);
    this.#tellPause();
  }

  /** The service declares a rate; `by` names the source, such as an endpoint. */
  advise(by: string, rate: Rate): void {
    this.#keep(`advised ${by}`, rate);
  }

  /**
   * Leaves the spacing to the thread that sends the requests, which can wait exactly.
   *
   * @returns tells how many milliseconds apart to send them at least; 0 while no limit was found
   */
  leaveSpacing(): () => number {
    // Quotas are counted when a request leaves.
    this.#isSpacedLater = this.#quotas.length === 0;
    return () => {
      const interval = 1000 / this.#found.rateAt(this.#usedMs());
      // A lower rate that was given is kept here.
      const least = Math.max(
        exactFromMs,
        ...[...this.#windows.values()].map((one) => one.interval),
      );
      return this.#isSpacedLater && interval >= least ? apart * interval : 0;
    };
  }

  /** Returns unused reservations. Call when the run is over. */
  giveBack(): void {
    this.#stop();
    for (const quota of this.#quotas) quota.giveBack();
  }

  #keep(name: string, rate: Rate): void {
    this.#windows.set(name, rateWindow(name, rate));
  }

  /** Milliseconds in which the rate that was found was used up. */
  #usedMs(): number {
    return this.#options.clock.monotonic() - this.#idleMs;
  }

  #windowsNow(): readonly PaceWindow[] {
    const rate = this.#found.rateAt(this.#usedMs());
    const given = [...this.#windows.values()];
    if (rate === Number.POSITIVE_INFINITY) return given;
    return [...given, foundWindow(rate, this.#isSpacedLater)];
  }

  /**
   * Spends a request that may start now.
   *
   * @returns milliseconds until one may; 0 or less if it was spent
   */
  #spend(): number {
    const now = this.#options.clock.monotonic();
    let at = this.#pausedUntil;
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
    const lastMs = this.#lastMs;
    this.#lastMs = now;
    this.#sent++;
    this.#isExact = false;
    for (const { name, interval, backlog, fast, late, isExact } of this.#windowsNow()) {
      this.#isExact ||= isExact;
      const { averageMs, fastMs } = this.#due.get(name) ?? { averageMs: lastMs, fastMs: lastMs };
      let [average, soonest] = [now - backlog, now - late];
      if (name === "found") {
        // The search stops at twice the rate that is really sent.
        const times = this.#found.isSearching ? 2 : 1;
        this.#idleMs += Math.min(now - lastMs, times * Math.max(0, average - averageMs));
      } else if (now - lastMs > idleMs) {
        [average, soonest] = [now, late > 0 ? now + leadMs : now];
      }
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
      if (wait > longestQuotaWaitMs) this.#usedUp(quota.rate, wait);
    }
    return longest;
  }

  /** Nobody waits for the service's own quota, which it names by the length of a pause. */
  #tellPause(): void {
    const { pausedMs } = this;
    if (pausedMs > longestWaitMs) this.#usedUp(null, pausedMs);
  }

  /** @param rate of the quota; null for the service's own */
  #usedUp(rate: Rate | null, forMs: number): void {
    const { clock, onUsedUp } = this.#options;
    const quota =
      rate === null
        ? "the service's own quota"
        : `the quota of ${counted(rate.count, "request")} in ${rate.perMs / 3_600_000} h`;
    const nextMinuteMs = Math.ceil((clock.now() + forMs) / 60_000) * 60_000;
    const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
    onUsedUp?.(new EarlyEndError("quota_used_up", `${quota} is used up until ${at}`));
  }

  /** Releases every request that may start, and sets the single timer for the next. */
  #wake(): void {
    while (this.#queue.size > 0) {
      const wait = this.#spend();
      if (wait <= 0) this.#queue.release(this.#ticket);
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

/**
 * Length of a pause after a throttle answer without `Retry-After`.
 *
 * @param streak number of pauses before it, since a request was sent that was accepted
 * @param random from 0 (inclusive) to 1
 */
function pauseMs(streak: number, random: number): number {
  const ms = Math.min(pauses.longestMs, pauses.firstMs * 2 ** streak);
  return ms * (1 + pauses.spread * random);
}

/** Maximum number of requests in any second, as a multiple of the rate; bounds the catch-up. */
const mostInASecond = 1.05;

/** Speed of the catch-up as a multiple of the rate, and the maximum backlog it makes up for. */
const catchUp = { speed: 1.02, longestMs: 500 };

/** Windows of at least this length, in milliseconds, are never exceeded, not even to catch up. */
const longWindowMs = 10_000;

/**
 * Timer lateness in milliseconds that is made up for at once. Together with the speed of the catch-up,
 * it leaves part of the 5% for shifts by connections and the network.
 */
const atOnceMs = 16;

/** The limit of a given rate: evenly spaced, with no more than 105% of the rate in any second. */
function rateWindow(name: string, { count, perMs }: Rate): PaceWindow {
  const evenMs = perMs / count;
  // Below 20 per second, 5% is less than one request.
  const inASecond = Math.floor((mostInASecond * 1000) / evenMs);
  const late = Math.min(atOnceMs, inASecond * evenMs - 1000);
  // Late slots move towards those behind them.
  const leastMs = inASecond < 1 ? evenMs : (1000 + late) / inASecond;
  const fastMs = Math.max(evenMs / catchUp.speed, leastMs);
  const isLong = perMs >= longWindowMs;
  // Over a long window, saving up in advance for lateness costs almost nothing.
  const averageMs = isLong ? (perMs + 2 * Math.max(0, late)) / count : evenMs;
  const interval = fastMs > evenMs ? Math.max(averageMs, fastMs) : averageMs;
  const backlog = isLong ? Math.max(0, late) : catchUp.longestMs;
  return {
    name,
    interval,
    backlog: interval > fastMs ? backlog : 0,
    fast: Math.min(interval, fastMs),
    late: Math.max(0, late),
    isExact: false,
  };
}

/**
 * From this interval on, in milliseconds, requests are spaced exactly where a limit was found: some
 * limiters admit no two at once. Below it, timers send up to two together, 2 ms late at most. Another
 * thread that spaces them makes up for this one's delays.
 */
const exactFromMs = 0.25;
const lateness = { exact: 0.1, spaced: 20, coarse: 1, most: 2, speed: 1.25 };

/** Least interval on that thread, which may have to catch up, as a share of the interval on average. */
const apart = 0.98;

/** The limit of a rate found by search. */
function foundWindow(perSecond: number, isSpacedLater: boolean): PaceWindow {
  const interval = 1000 / perSecond;
  const isEven = interval >= exactFromMs;
  const isExact = isEven && !isSpacedLater;
  const late = isExact ? lateness.exact : isEven ? lateness.spaced : lateness.coarse;
  const fast = isEven ? interval : interval / lateness.speed;
  return { name: "found", interval, backlog: Math.max(lateness.most, late), fast, late, isExact };
}
