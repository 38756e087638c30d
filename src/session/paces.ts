import type { Clock } from "../core/clock.js";
import { EarlyEndError, UsageError } from "../core/errors.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { isQuota, type Rate } from "../core/options.js";
import type { OutageProbes } from "../lookup/attempt/outage.js";
import { type EndpointRates, ratesOf } from "../lookup/options.js";
import { Pace } from "../lookup/pace/pace.js";
import type { RequestPace, Throttling } from "../lookup/pace/request-pace.js";
import type { QuotaStore } from "../store/quota/quota-store.js";
import type { Priority } from "../store/redis/redis-address.js";
import type { SharedPace } from "./shared-pace.js";

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
interface PaceSettings extends EndpointRates {
  readonly rate?: readonly Rate[] | undefined;
  readonly pace?: string | undefined;
  readonly priority?: Priority | undefined;
}

/** The paces of a run: one for all endpoints, and one for each endpoint with rates of its own. */
export interface Paces {
  readonly run: RequestPace;
  readonly shares: Partial<Record<LookupEndpoint, Pace>>;
  /** What throttle answers have shown so far to the run's own pace. */
  readonly throttling: () => Throttling;
  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  readonly pausedMs: () => number;
  /** Which of the processes that share the pace probes the service during an outage. */
  readonly probes?: OutageProbes | undefined;
  /** Returns reserved but unused requests to their quotas. */
  giveBack(): Promise<void>;
}

/**
 * Creates the paces of a run from its rates. A spent quota ends the run, which can be resumed.
 *
 * @throws UsageError `priority_without_pace`; as `openSharedPace` and `openQuotas`
 */
export async function openPaces(settings: PaceSettings, options: OpenPacesOptions): Promise<Paces> {
  const { clock, onEarlyEnd } = options;
  const shared = await openShared(settings, options);
  const store = shared?.store ?? (await openCount(settings, options));
  const open = (scope: string, rates: readonly Rate[], isShare: boolean): Pace =>
    new Pace({
      rates,
      clock,
      isShare,
      quotas: store && { store, name: scope },
      limiter: shared?.limiter(scope, rates),
      onUsedUp: (used, resumesAtMs) => onEarlyEnd(quotaUsedUp(used, resumesAtMs)),
    });
  const run = open(quotaOfAll, settings.rate ?? [], false);
  const shares: Partial<Record<LookupEndpoint, Pace>> = {};
  for (const endpoint of lookupEndpoints) {
    const rates = ratesOf(endpoint, settings);
    if (rates.length > 0) shares[endpoint] = open(endpoint, rates, true);
  }
  return {
    run,
    shares,
    throttling: () => run.throttling,
    pausedMs: () => run.pausedMs,
    probes: shared?.probes,
    async giveBack() {
      for (const pace of [run, ...Object.values(shares)]) await pace.giveBack();
      shared?.close();
    },
  };
}

async function openShared(
  { pace, priority }: PaceSettings,
  options: OpenPacesOptions,
): Promise<SharedPace | undefined> {
  if (pace !== undefined) {
    const { openSharedPace } = await import("./shared-pace.js");
    return openSharedPace({ ...options, pace, priority });
  }
  if (priority !== undefined) {
    throw new UsageError("priority_without_pace", "--priority orders the runs that share a pace", {
      hint: "add --pace redis://HOST/DB, or omit --priority",
    });
  }
  return undefined;
}

/** Opens the store that counts quotas; undefined without a quota. */
async function openCount(
  settings: PaceSettings,
  { service, stateFolder, onWarning }: OpenPacesOptions,
): Promise<QuotaStore | undefined> {
  const own = lookupEndpoints.flatMap((endpoint) => ratesOf(endpoint, settings));
  if (![...(settings.rate ?? []), ...own].some(isQuota)) return undefined;
  const { openQuotas } = await import("../store/quota/open-quotas.js");
  const isKept = service !== null && stateFolder !== null;
  return openQuotas(isKept ? { service, stateFolder, onWarning } : null);
}

/** Name under which requests to all endpoints are counted together. */
export const quotaOfAll = "all";

/** The error that ends a run or command whose quota is used up. */
export function quotaUsedUp({ count, perMs }: Rate, resumesAtMs: number): EarlyEndError {
  const hours = perMs / 3_600_000;
  const nextMinuteMs = Math.ceil(resumesAtMs / 60_000) * 60_000;
  const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError(
    "quota_used_up",
    `the quota of ${count} requests in ${hours} h is used up until ${at}`,
  );
}
