import type { Clock } from "../../core/clock.js";
import type { Again } from "../../core/attempt.js";

export interface RetryOptions {
  /** Further attempts after passing faults and throttle answers, together. */
  readonly retries: number;
  /** Further attempts after partial answers. */
  readonly partialRetries: number;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A part that is unavailable comes back soon or not soon enough to wait for. */
const partialBounds: BackoffBounds = { firstMs: 250, mostMs: 2_000 };

/** Whether and when to ask again, for all attempts of one lookup or call. */
export class RetryPlan {
  readonly #options: RetryOptions;
  #faults = 0;
  #partials = 0;
  #onces = 0;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait before the next attempt; null when there is none to be made. */
  waitAfter({ policy, afterMs }: Again): number | null {
    const { retries, partialRetries, random = Math.random } = this.#options;
    switch (policy) {
      case "partial":
        if (this.#partials >= partialRetries) return null;
        return backoffMs(this.#partials++, random(), afterMs, partialBounds);
      case "once":
        if (this.#onces > 0) return null;
        return backoffMs(this.#onces++, random(), afterMs);
      case "transient":
      case "throttled":
        if (this.#faults >= retries) return null;
        return backoffMs(this.#faults++, random(), afterMs);
    }
  }
}

/** Bounds of the random wait before an attempt, in milliseconds. */
interface BackoffBounds {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** After faults and throttle answers. */
const faultBounds: BackoffBounds = { firstMs: 500, mostMs: 30_000 };

/**
 * Full jitter over a span that doubles with each retry (AWS Architecture Blog, Exponential Backoff
 * And Jitter), so that what failed together does not come back together.
 *
 * @param retry how many retries there were before this one, from 0
 * @param random from 0 to below 1
 * @param afterMs what the service asked for: waited in any case, the jitter on top
 */
export function backoffMs(
  retry: number,
  random: number,
  afterMs: number | null,
  bounds: BackoffBounds = faultBounds,
): number {
  const span = Math.min(bounds.mostMs, bounds.firstMs * 2 ** Math.min(retry, 20));
  return (afterMs ?? 0) + random * span;
}
