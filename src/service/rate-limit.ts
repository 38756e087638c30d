import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";

/** Takes one request. Returns 0 if it is admitted, else the milliseconds until the next may be. */
export type RateLimit = () => number;

/** A token bucket that holds the requests of one window and fills evenly over the window. */
export function rateLimit(rate: Rate, clock: Clock): RateLimit {
  const perMs = rate.count / rate.perMs;
  let tokens = rate.count;
  let filledAt = clock.monotonic();
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(rate.count, tokens + (now - filledAt) * perMs);
    filledAt = now;
    if (tokens < 1) return (1 - tokens) / perMs;
    tokens -= 1;
    return 0;
  };
}
