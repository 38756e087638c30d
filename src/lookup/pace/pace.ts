import type { Clock } from "../../core/clock.js";
import { isQuota, type Rate } from "../../core/options.js";
import { FairQueue } from "./fair-queue.js";
import { type Limiter, OwnLimiter } from "./limiter.js";
import { QuotaGate, type QuotaGateOptions } from "./quota-gate.js";
import type { RequestPace, Throttling } from "./request-pace.js";

interface PaceOptions extends QuotaGateOptions {
  /** All rates apply; none means no limit. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /**
   * Shares the rates below an hour with other processes.
   *
   * @param onChange to be called when requests may start that had to wait
   */
  readonly limiter?: ((onChange: () => void) => Limiter) | undefined;
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
  readonly #limiter: Limiter;
  readonly #quotas: QuotaGate;
  readonly #clock: Clock;
  #timer: AbortController | null = null;
  readonly #queue = new FairQueue<number>(() => this.#stopTimer());

  constructor(options: PaceOptions) {
    const { rates, clock, limiter, random = Math.random } = options;
    const short = rates.filter((rate) => !isQuota(rate));
    const onChange = (): void => {
      this.#stopTimer();
      this.#wake();
    };
    this.#limiter = limiter?.(onChange) ?? new OwnLimiter(short, random);
    this.#quotas = new QuotaGate(options);
    this.#clock = clock;
  }

  /**
   * Resolves when a request may start, first come, first served. Pass the ticket to `throttled` or
   * `succeeded` with the answer.
   *
   * @throws the signal's reason if it aborts first
   */
  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#queue.size === 0 && this.#leave() <= 0) return Promise.resolve(this.#limiter.ticket);
    const turn = this.#queue.enqueue(signal);
    this.#wake();
    return turn;
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for; null for a pause that doubles from 40 ms to 60 s
   *   while it answers nothing else
   */
  throttled(afterMs: number | null, ticket = this.#limiter.ticket): void {
    this.#limiter.throttled(this.#clock.monotonic(), afterMs, ticket);
  }

  /** What throttle answers have shown so far. */
  get throttling(): Throttling {
    return this.#limiter.throttling;
  }

  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  get pausedMs(): number {
    return this.#limiter.pausedMs(this.#clock.monotonic());
  }

  /** Reports any other answer. */
  succeeded(ticket = this.#limiter.ticket): void {
    this.#limiter.succeeded(this.#clock.monotonic(), ticket);
  }

  /** The service declares its limit used up: nothing is sent for `ms` milliseconds. */
  hold(ms: number): void {
    this.#limiter.hold(this.#clock.monotonic(), ms);
  }

  /** Reports the end of a request released here; only for paces with `isShare`. */
  ended(): void {
    this.#quotas.ended();
  }

  /**
   * The service declares a rate: it applies until the same source declares another.
   *
   * @param by the source, such as an endpoint
   */
  advise(by: string, rate: Rate): void {
    this.#limiter.advise(by, rate);
  }

  /** Returns unused reservations to quotas. Call when the run is over. */
  async giveBack(): Promise<void> {
    await this.#limiter.close?.();
    await this.#quotas.giveBack();
  }

  /** Milliseconds until a request may start. At 0 or less it does, and is spent. */
  #leave(): number {
    const now = this.#clock.monotonic();
    const wait = this.#limiter.waitAt(now, Math.max(1, this.#queue.size));
    // Quotas come last: asking one may reserve permits, which should be used soon.
    const quotaWait = wait > 0 ? wait : this.#quotas.wait();
    if (quotaWait > 0) return quotaWait;
    this.#limiter.spend(now);
    this.#quotas.spend();
    return 0;
  }

  /** Releases every request that may start, and sets the single timer for the next. */
  #wake(): void {
    if (this.#timer !== null) return;
    while (this.#queue.size > 0) {
      const wait = this.#leave();
      if (wait <= 0) {
        this.#queue.release(this.#limiter.ticket);
        continue;
      }
      // The listener told about a used-up quota may have ended the waiting requests.
      if (this.#queue.size > 0 && Number.isFinite(wait)) this.#sleep(wait);
      return;
    }
  }

  #sleep(waitMs: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    const wake = (): void => {
      this.#timer = null;
      this.#wake();
    };
    // Timers have millisecond granularity; one that fires early would have to be set again.
    const ms = Math.min(longestSleepMs, Math.max(1, Math.ceil(waitMs)));
    this.#clock.sleep(ms, timer.signal).then(wake, () => undefined);
  }

  #stopTimer(): void {
    this.#timer?.abort();
    this.#timer = null;
  }
}
