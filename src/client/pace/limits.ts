import { isQuota, type Rate, tightest } from "../../core/options.js";
import { AdaptiveRate } from "./adaptive-rate.js";

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

interface LimitsOptions {
  /** All apply; none means no limit. Quotas are not among these limits. */
  readonly rates: readonly Rate[];
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly random?: (() => number) | undefined;
}

/** First and longest pause after a throttle answer without `Retry-After`, and the random extra. */
const pauses = { firstMs: 40, longestMs: 60_000, spread: 0.25 };

/** Limits of a service: the given rates, those that it declares, and what throttle answers show. */
export class Limits {
  /** Number of times so far that something was learned or a pause began. Dates requests. */
  ticket = 0;
  /** Ticket of the last request that was accepted. */
  good = 0;
  /** 0 before the first pause. */
  pausedUntil = 0;
  sent = 0;
  /** Time in which the rate that was found was not used up. */
  idleMs = 0;
  readonly rate = new AdaptiveRate(() => this.sent);
  readonly #options: LimitsOptions;
  /** Windows of the given rates and of the declared ones, by name. */
  readonly #windows = new Map<string, PaceWindow>();

  constructor(options: LimitsOptions) {
    this.#options = options;
    for (const rate of tightest(options.rates.filter((one) => !isQuota(one)))) {
      this.#keep(`per ${rate.perMs}`, rate);
    }
  }

  /** Milliseconds until the pause ends; 0 without one. */
  get pausedMs(): number {
    return Math.max(0, this.pausedUntil - this.#options.now());
  }

  windows(): PaceWindow[] {
    const windows = [...this.#windows.values()];
    const rate = this.rate.rateAt(this.#usedMs());
    if (rate !== Number.POSITIVE_INFINITY) windows.push(foundWindow(rate));
    return windows;
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(afterMs: number | null, ticket: number): void {
    const isMuch = this.rate.throttled(this.#usedMs(), ticket, this.ticket, afterMs ?? 0);
    const isNews = ticket === this.ticket;
    if (afterMs === null && !(isNews && isMuch)) return;
    if (isNews) this.ticket++;
    this.hold(afterMs ?? pauseMs(ticket - this.good, (this.#options.random ?? Math.random)()));
  }

  succeeded(ticket: number): void {
    this.good = Math.max(this.good, ticket);
    if (!this.rate.accepted(this.#usedMs(), ticket)) return;
    this.ticket++;
  }

  hold(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.#options.now() + ms);
  }

  advise(by: string, rate: Rate): void {
    this.#keep(`advised ${by}`, rate);
  }

  #keep(name: string, rate: Rate): void {
    this.#windows.set(name, rateWindow(name, rate));
  }

  /** Milliseconds in which the rate that was found was used up. */
  #usedMs(): number {
    return this.#options.now() - this.idleMs;
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
 * limiters admit no two at once. Below it, timers send up to two together, 2 ms late at most.
 */
const exactFromMs = 1;
const lateness = { exact: 0.1, coarse: 1, most: 2, speed: 1.25 };

/** The limit of a rate found by search. */
function foundWindow(perSecond: number): PaceWindow {
  const interval = 1000 / perSecond;
  const isExact = interval >= exactFromMs;
  return {
    name: "found",
    interval,
    backlog: lateness.most,
    fast: isExact ? interval : interval / lateness.speed,
    late: isExact ? lateness.exact : lateness.coarse,
    isExact,
  };
}
