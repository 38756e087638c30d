import { isQuota, type Rate } from "../core/options.js";

/** When a quota would be used up. */
export interface QuotaEnd {
  /** Requests in the window, and the window in seconds. */
  readonly count: number;
  readonly per_seconds: number;
  /** Seconds from the start until it is used up. */
  readonly used_up_after_seconds: number;
  /** Requests that are left then. */
  readonly left: number;
}

/** Seconds that so many requests take at these rates, with quotas unused before; null without rates. */
export function secondsFor(requests: number, rates: readonly Rate[]): number | null {
  if (rates.length === 0) return null;
  return Math.max(0, ...rates.map((rate) => secondsWithin(requests, rate, rates)));
}

/** The quotas that so many requests would use up. */
export function quotaEnds(requests: number, rates: readonly Rate[]): readonly QuotaEnd[] {
  const smooth = rates.filter((rate) => !isQuota(rate));
  return rates
    .filter((rate) => isQuota(rate) && requests > rate.count)
    .map((rate) => ({
      count: rate.count,
      per_seconds: rate.perMs / 1000,
      used_up_after_seconds: secondsFor(rate.count, smooth) ?? 0,
      left: requests - rate.count,
    }));
}

function secondsWithin(requests: number, rate: Rate, rates: readonly Rate[]): number {
  if (requests === 0) return 0;
  if (!isQuota(rate)) return ((requests - 1) * rate.perMs) / rate.count / 1000;
  // Whole windows first; within the last one the other rates decide.
  const windows = Math.floor((requests - 1) / rate.count);
  const rest = requests - windows * rate.count;
  const others = rates.filter((other) => !isQuota(other));
  return (windows * rate.perMs) / 1000 + (secondsFor(rest, others) ?? 0);
}
