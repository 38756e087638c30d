import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import type { Clock } from "../core/clock.js";
import { EarlyEndError, UsageError } from "../core/errors.js";
import { isQuota, type Rate } from "../core/options.js";
import { type EndpointRates, ratesOf } from "../lookup/options.js";
import type { OutageProbes } from "../lookup/attempt/outage.js";
import { Pace } from "../lookup/pace/pace.js";
import type { EndpointPace, RequestPace, Throttling } from "../lookup/pace/request-pace.js";
import { MemoryQuotaStore, type QuotaStore } from "../store/quota/quota-store.js";
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
  /** Which of the processes that share the pace probes the service during an outage. */
  readonly probes?: OutageProbes | undefined;
  /** Returns reserved but unused requests to their quotas. */
  giveBack(): Promise<void>;
}

/** Creates the paces of a run from its rates. A spent quota ends the run, which can be resumed. */
export async function openPaces(settings: PaceSettings, options: OpenPacesOptions): Promise<Paces> {
  const { clock, onEarlyEnd } = options;
  if (settings.pace !== undefined) {
    const { openSharedPaces } = await import("./shared-paces.js");
    return openSharedPaces({ ...settings, pace: settings.pace }, options);
  }
  if (settings.priority !== undefined) {
    throw new UsageError("priority_without_pace", "--priority orders the runs that share a pace", {
      hint: "add --pace redis://HOST/DB, or omit --priority",
    });
  }
  const { rate = [] } = settings;
  const own = eachEndpoint((endpoint) => ratesOf(endpoint, settings));
  const all = [...rate, ...Object.values(own).flat()];
  const store = await quotaStoreFor(all, options);
  const onUsedUp = (used: Rate, resumesAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, resumesAtMs));
  const common = { clock, onUsedUp };
  const ofAll = { store, name: quotaOfAll };
  const ofRun = new Pace({ ...common, rates: rate, adaptive: true, quotas: ofAll });
  const shares: Partial<Record<LookupEndpoint, Pace>> = {};
  for (const name of lookupEndpoints) {
    if (own[name].length === 0) continue;
    shares[name] = new Pace({
      ...common,
      rates: own[name],
      isShare: true,
      quotas: { store, name },
    });
  }
  return {
    run: ofRun,
    shares,
    throttling: () => ofRun.throttling,
    pausedMs: () => ofRun.pausedMs,
    async giveBack() {
      for (const pace of [ofRun, ...Object.values(shares)]) await pace.giveBack();
    },
  };
}

/** Name under which requests to all endpoints are counted together. */
export const quotaOfAll = "all";

/** Opens the store that counts quotas. Loads it only if the rates include a quota. */
async function quotaStoreFor(
  rates: readonly Rate[],
  { service, stateFolder, onWarning }: OpenPacesOptions,
): Promise<QuotaStore> {
  if (service === null || stateFolder === null || !rates.some(isQuota)) {
    return new MemoryQuotaStore();
  }
  const { openQuotas } = await import("../store/quota/open-quotas.js");
  return openQuotas({ service, stateFolder, onWarning });
}

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
