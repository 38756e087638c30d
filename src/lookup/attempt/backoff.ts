/** Bounds of the random wait before an attempt, in milliseconds. */
export interface BackoffBounds {
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
