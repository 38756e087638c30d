import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import type { Clock } from "../core/clock.js";
import { EarlyEndError } from "../core/errors.js";
import type { Rate } from "../core/options.js";
import { type EndpointRates, ratesOf } from "../lookup/options.js";
import type { ProbeLease } from "../lookup/attempt/outage.js";
import type { Throttling } from "../lookup/pace/request-pace.js";
import type { Pace } from "../lookup/pace/pace.js";
import type { EndpointPace, RequestPace } from "../lookup/pace/request-pace.js";
import type { Priority } from "../store/redis/redis-address.js";

export interface OpenPacesOptions {
  /** Address of the service; null for one that ends with this process, which remembers no quotas. */
  readonly service: string | null;
  /** Where rates per hour and longer are counted; null counts in memory, for this session only. */
  readonly stateFolder: string | null;
  readonly onWarning: (message: string) => void;
  readonly clock: Clock;
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

/** Rates, and where their pace is shared; no `pace` for an own one. */
export interface PaceSettings extends EndpointRates {
  readonly rate?: readonly Rate[] | undefined;
  readonly pace?: string | undefined;
  readonly priority?: Priority | undefined;
}

/** The paces of a run: one for all endpoints, and one for each endpoint with rates of its own. */
export interface Paces {
  readonly run: RequestPace;
  readonly shares: Partial<Record<LookupEndpoint, EndpointPace>>;
  /** What throttle answers have shown so far to the run's own pace. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Which of the processes that share the paces probes the service during an outage. */
  readonly lease?: ProbeLease | undefined;
  /** Returns reserved but unused requests to their quotas. */
  giveBack(): Promise<void>;
}

/** @param open makes the pace whose quotas are counted under a name; `isShare` if it is one endpoint's */
export function pacesOf(
  settings: PaceSettings,
  open: (name: string, rates: readonly Rate[], isShare: boolean) => Pace,
): Paces {
  const run = open(quotaOfAll, settings.rate ?? [], false);
  const shares: Partial<Record<LookupEndpoint, Pace>> = {};
  for (const name of lookupEndpoints) {
    const own = ratesOf(name, settings);
    if (own.length > 0) shares[name] = open(name, own, true);
  }
  return {
    run,
    shares,
    throttling: () => run.limits.throttling,
    pausedMs: () => run.limits.pausedMs,
    async giveBack() {
      for (const pace of [run, ...Object.values(shares)]) await pace.giveBack();
    },
  };
}

/** Name under which requests to all endpoints are counted together. */
export const quotaOfAll = "all";

/** The error that ends a run or command whose quota is used up. */
export function quotaUsedUp(rate: Rate | null, resumesAtMs: number): EarlyEndError {
  const quota =
    rate === null
      ? "the service's own quota"
      : `the quota of ${rate.count} requests in ${rate.perMs / 3_600_000} h`;
  const nextMinuteMs = Math.ceil(resumesAtMs / 60_000) * 60_000;
  const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError("quota_used_up", `${quota} is used up until ${at}`);
}
