import type { Clock } from "../../core/clock.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { RequestPace, Throttling } from "./request-pace.js";
import { Gcra } from "./gcra.js";
import { QuotaGate, type QuotaGateOptions } from "./quota-gate.js";
import { LimitState } from "./limit-state.js";
import { FairQueue } from "./fair-queue.js";

interface PaceOptions extends QuotaGateOptions {
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Maximum single sleep in milliseconds: timers accept at most 2^31. */
const longestSleepMs = 3_600_000;

/**
 * The pace of a run, shared by all attempts of all endpoints. Keeps the given rates and pauses
 * everything when the service throttles.
 */
export class Pace implements RequestPace {
  readonly #windows: readonly Gcra[];
  readonly #quotas: QuotaGate;
  /** Rates that the service declares, by source; they apply in addition to the given ones. */
  readonly #advised = new Map<string, { readonly rate: Rate; readonly window: Gcra }>();
  readonly #limit: LimitState;
  readonly #clock: Clock;
  #timer: AbortController | null = null;
  readonly #queue = new FairQueue<number>(() => {
    this.#timer?.abort();
    this.#timer = null;
  });

  constructor(options: PaceOptions) {
    const { rates, clock, random = Math.random } = options;
    this.#limit = new LimitState(random);
    this.#windows = rates.filter((rate) => !isQuota(rate)).map((rate) => new Gcra(rate));
    this.#quotas = new QuotaGate(options);
    this.#clock = clock;
  }

  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#leave()) return Promise.resolve(this.#limit.ticket);
    const turn = this.#queue.enqueue(signal);
    this.#wake();
    return turn;
  }

  throttled(afterMs: number | null, ticket = this.#limit.ticket): void {
    this.#limit.throttled(this.#clock.monotonic(), afterMs, ticket);
  }

  get throttling(): Throttling {
    return this.#limit.throttling;
  }

  get pausedMs(): number {
    return Math.max(0, this.#limit.pausedUntil - this.#clock.monotonic());
  }

  succeeded(ticket = this.#limit.ticket): void {
    this.#limit.succeeded(this.#clock.monotonic(), ticket);
  }

  hold(ms: number): void {
    this.#limit.hold(this.#clock.monotonic(), ms);
  }

  ended(): void {
    this.#quotas.ended();
  }

  advise(by: string, rate: Rate): void {
    const known = this.#advised.get(by)?.rate;
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised.set(by, { rate, window: new Gcra(rate) });
  }

  giveBack(): Promise<void> {
    return this.#quotas.giveBack();
  }

  /** True if a request may start; it is spent then. */
  #leave(): boolean {
    const now = this.#clock.monotonic();
    if (this.#waitAt(now) > 0) return false;
    for (const window of this.#windows) window.spend(now);
    for (const { window } of this.#advised.values()) window.spend(now);
    this.#quotas.spend();
    this.#limit.spend(now);
    return true;
  }

  #waitAt(now: number): number {
    let wait = this.#limit.waitAt(now);
    for (const window of this.#windows) wait = Math.max(wait, window.waitAt(now));
    for (const { window } of this.#advised.values()) wait = Math.max(wait, window.waitAt(now));
    // Quotas come last: asking one may reserve permits, which should be used soon.
    return wait > 0 ? wait : this.#quotas.wait();
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
      this.#queue.release(this.#limit.ticket);
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
