import type { LookupEndpoint } from "../../core/finding.js";
import { isQuota, type Rate } from "../../core/options.js";
import {
  type QuotaEnd,
  quotaEnds,
  type QuotaUse,
  quotaUse,
  secondsFor,
  type Spent,
} from "./plan-time.js";

/** Rates, and the requests that they limit. */
export interface PlannedPace {
  /** Null: all endpoints together. */
  readonly endpoint: LookupEndpoint | null;
  /** Empty for no limit. */
  readonly rates: readonly Rate[];
  /** How much of the quotas earlier runs used. @default none */
  readonly spent?: Spent | undefined;
}

/** What ends a run before its last request, and the requests until then. */
export interface PlannedLimit {
  readonly by: "max_requests" | "deadline" | "quota";
  readonly requests: number;
}

/** A quota of one endpoint, or of all together. */
type OfEndpoint<Quota> = Quota & { readonly endpoint?: LookupEndpoint };

/** Cost of the given lookups in time. */
export interface PlannedTime {
  /** Seconds at the given rates; null without rates. */
  readonly seconds: number | null;
  /** The quotas among the rates, and how much of them earlier runs used. */
  readonly quotas: readonly OfEndpoint<QuotaUse>[];
  readonly quota_ends: readonly OfEndpoint<QuotaEnd>[];
}

/** @param requestsTo requests of the run to an endpoint; null: to all together */
export function timeOf(
  paces: readonly PlannedPace[],
  requestsTo: (endpoint: LookupEndpoint | null) => number,
): PlannedTime {
  const ofEach = <Value extends object>(
    of: (requests: number, rates: readonly Rate[], spent?: Spent) => readonly Value[],
  ): readonly OfEndpoint<Value>[] =>
    paces.flatMap(({ endpoint, rates, spent }) =>
      of(requestsTo(endpoint), rates, spent).map((value): OfEndpoint<Value> =>
        endpoint === null ? value : Object.assign({ endpoint }, value),
      ),
    );
  const seconds = paces
    .map(({ endpoint, rates, spent }) => secondsFor(requestsTo(endpoint), rates, spent))
    .filter((each) => each !== null);
  return {
    seconds: seconds.length === 0 ? null : Math.max(...seconds),
    quotas: ofEach((_requests, rates, spent) => quotaUse(rates, spent)),
    quota_ends: ofEach(quotaEnds),
  };
}

/** The limits of a run, the strictest first. */
export function limitsOf(
  budget: { readonly maxRequests?: number | undefined; readonly deadlineSeconds: number | null },
  paces: readonly PlannedPace[],
  requestsTo: (endpoint: LookupEndpoint | null) => number,
): readonly PlannedLimit[] {
  const limits: PlannedLimit[] = [];
  if (budget.maxRequests !== undefined) {
    limits.push({ by: "max_requests", requests: budget.maxRequests });
  }
  for (const { endpoint, rates, spent } of paces) {
    // Of requests to all endpoints, as many as the share of those to this one.
    const whole = requestsTo(null) / Math.max(1, requestsTo(endpoint));
    const add = (by: PlannedLimit["by"], requests: number): void => {
      if (Number.isFinite(requests)) limits.push({ by, requests: Math.floor(requests * whole) });
    };
    if (budget.deadlineSeconds !== null) add("deadline", within(budget.deadlineSeconds, rates));
    for (const quota of quotaUse(rates, spent)) add("quota", quota.count - quota.spent);
  }
  return limits.sort((one, other) => one.requests - other.requests);
}

/** Requests that smooth rates allow within this time; the first one leaves at once. */
function within(seconds: number, rates: readonly Rate[]): number {
  const each = rates
    .filter((rate) => !isQuota(rate))
    .map(({ count, perMs }) => Math.floor((seconds * 1000 * count) / perMs) + 1);
  return Math.min(...each);
}
