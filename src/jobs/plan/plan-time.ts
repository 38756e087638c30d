import { isQuota, type Rate } from "../../core/options.js";

export interface PlannedPace {
  /** Empty for no limit. */
  readonly rates: readonly Rate[];
  /** How much of the quotas earlier runs used. @default none */
  readonly spent?: Spent | undefined;
}

/** Returns how much of a quota is used. */
type Spent = (quota: Rate) => number;

/** When a quota would be used up. */
interface QuotaEnd {
  /** Requests in the window, and the length of the window in seconds. */
  readonly count: number;
  readonly per_seconds: number;
  /** Seconds from the start until it is used up. */
  readonly used_up_after_seconds: number;
  /** Requests still to be made by then. */
  readonly left: number;
}

/** A quota, and how much of it earlier runs used within its window. */
interface QuotaUse {
  readonly count: number;
  readonly per_seconds: number;
  readonly spent: number;
}

export interface PlannedTime {
  /** Seconds at the given rates; null without rates. */
  readonly seconds: number | null;
  /** The quotas among the rates, and how much of them earlier runs used. */
  readonly quotas: readonly QuotaUse[];
  readonly quota_ends: readonly QuotaEnd[];
  /** Runs until one is complete, if there is one a night, each with `--resume` and all of its quotas. */
  readonly nights: number;
}

/** @param requests of the run, to all endpoints together */
export function timeOf({ rates, spent }: PlannedPace, requests: number): PlannedTime {
  const ends = quotaEnds(requests, rates, spent);
  return {
    seconds: secondsFor(requests, rates, spent),
    quotas: quotaUse(rates, spent),
    quota_ends: ends,
    nights: 1 + Math.max(0, ...ends.map(({ left, count }) => Math.ceil(left / count))),
  };
}

const nothing: Spent = () => 0;

/**
 * Upper limit in seconds for this many requests at these rates. Assumes that the used part of a
 * quota returns at the end of a window that starts now.
 *
 * @returns null without rates
 */
function secondsFor(
  requests: number,
  rates: readonly Rate[],
  spent: Spent = nothing,
): number | null {
  if (rates.length === 0) return null;
  return Math.max(0, ...rates.map((rate) => secondsWithin(requests, rate, rates, spent)));
}

/** The quotas among the rates. */
function quotaUse(rates: readonly Rate[], spent: Spent = nothing): readonly QuotaUse[] {
  return rates.filter(isQuota).map((rate) => ({
    count: rate.count,
    per_seconds: rate.perMs / 1000,
    spent: Math.min(rate.count, spent(rate)),
  }));
}

function quotaEnds(
  requests: number,
  rates: readonly Rate[],
  spent: Spent = nothing,
): readonly QuotaEnd[] {
  const smooth = rates.filter((rate) => !isQuota(rate));
  return quotaUse(rates, spent)
    .filter((quota) => requests > quota.count - quota.spent)
    .map((quota) => {
      const free = quota.count - quota.spent;
      return {
        count: quota.count,
        per_seconds: quota.per_seconds,
        used_up_after_seconds: secondsFor(free, smooth) ?? 0,
        left: requests - free,
      };
    });
}

function secondsWithin(requests: number, rate: Rate, rates: readonly Rate[], spent: Spent): number {
  if (requests === 0) return 0;
  if (!isQuota(rate)) return ((requests - 1) * rate.perMs) / rate.count / 1000;
  // Count whole windows; within the last one, the other rates decide.
  const taken = Math.min(rate.count, spent(rate));
  const windows = Math.floor((taken + requests - 1) / rate.count);
  const rest = windows === 0 ? requests : taken + requests - windows * rate.count;
  const others = rates.filter((other) => !isQuota(other));
  return (windows * rate.perMs) / 1000 + (secondsFor(rest, others) ?? 0);
}
