import type { Rate } from "../../core/options.js";
import { Gcra } from "./gcra.js";
import { LimitState } from "./limit-state.js";
import type { Throttling } from "./request-pace.js";

/** Decides when requests start. Times are monotonic milliseconds. */
export interface Limiter {
  /** Dates the requests that start now relative to pauses. */
  readonly ticket: number;
  /** What throttle answers have shown so far. */
  readonly throttling: Throttling;
  /**
   * Milliseconds until the next request may start, 0 or less if immediately; infinite if the pace is
   * woken then.
   *
   * @param waiting number of requests that want to start
   */
  waitAt(now: number, waiting: number): number;
  /** Spends one request. Call only after `waitAt` returned 0 or less. */
  spend(now: number): void;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  pausedMs(now: number): number;
  throttled(now: number, afterMs: number | null, ticket: number): void;
  succeeded(now: number, ticket: number): void;
  hold(now: number, ms: number): void;
  advise(by: string, rate: Rate): void;
  /** Call when the run is over. */
  close?(): Promise<void>;
}

/** Timer lateness that is made up for, in milliseconds. */
const lateMs = 16;

/** Limits the requests of this process alone. */
export class OwnLimiter implements Limiter {
  readonly #windows: readonly Gcra[];
  /** Rates that the service declares, by source; they apply in addition to the given ones. */
  readonly #advised = new Map<string, { readonly rate: Rate; readonly window: Gcra }>();
  readonly #limit: LimitState;
  /** When the rate that was found allows the next request. */
  #dueMs = 0;

  /** @param random random numbers from 0 (inclusive) to 1 */
  constructor(rates: readonly Rate[], random: () => number) {
    this.#windows = rates.map((rate) => new Gcra(rate));
    this.#limit = new LimitState(random);
  }

  get ticket(): number {
    return this.#limit.ticket;
  }

  get throttling(): Throttling {
    return this.#limit.throttling;
  }

  waitAt(now: number): number {
    let wait = Math.max(this.#limit.pausedUntil, this.#dueMs) - now;
    for (const window of this.#windows) wait = Math.max(wait, window.waitAt(now));
    for (const { window } of this.#advised.values()) wait = Math.max(wait, window.waitAt(now));
    return wait;
  }

  spend(now: number): void {
    for (const window of this.#windows) window.spend(now);
    for (const { window } of this.#advised.values()) window.spend(now);
    this.#limit.sent++;
    const rate = this.#limit.rateAt(now);
    if (rate === Number.POSITIVE_INFINITY) {
      this.#dueMs = now;
      return;
    }
    const late = Math.max(0, now - lateMs - this.#dueMs);
    this.#limit.idleMs += late;
    this.#dueMs += late + 1000 / rate;
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#limit.pausedUntil - now);
  }

  throttled(now: number, afterMs: number | null, ticket: number): void {
    this.#limit.throttled(now, afterMs, ticket);
  }

  succeeded(now: number, ticket: number): void {
    this.#limit.succeeded(now, ticket);
  }

  hold(now: number, ms: number): void {
    this.#limit.hold(now, ms);
  }

  advise(by: string, rate: Rate): void {
    const known = this.#advised.get(by)?.rate;
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised.set(by, { rate, window: new Gcra(rate) });
  }
}
