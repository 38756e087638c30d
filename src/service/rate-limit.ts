import type { Clock } from "../core/clock.js";
import type { Rate } from "../core/options.js";

/** Takes one request; returns the milliseconds until the next would be let through, 0 when it was. */
export type RateLimit = () => number;

/** A token bucket that holds one window's worth of requests and fills evenly over the window. */
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
