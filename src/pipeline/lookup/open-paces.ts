import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import { isQuota, type Rate } from "../../core/options.js";
import type { QuotaPlaces } from "../../store/quota/open-quotas.js";
import type { RequestPace } from "../../lookup/pace/request-pace.js";
import { type EndpointRates, ratesOf } from "../../lookup/options.js";
import { Pace } from "../../lookup/pace/pace.js";
import { MemoryQuotaStore, type QuotaStore } from "../../store/quota/quota-store.js";
import type { EnrichSettings } from "../options.js";
import type { SharedResources } from "../types.js";

export interface OpenPacesOptions {
  /** Where rates over an hour and longer are counted; null: in memory, for this run. */
  readonly quotas: QuotaPlaces | null;
  readonly shared?: Pick<SharedResources, "pace" | "quotas"> | undefined;
  readonly clock: Clock;
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

/** The paces of a run: that of all endpoints, and what single ones have of their own. */
export interface Paces {
  readonly run: RequestPace;
  readonly shares: Partial<Record<LookupEndpoint, Pace>>;
  /** Gives back what was reserved from quotas and not used. */
  giveBack(): Promise<void>;
}

/** Makes the paces of a run from its rates. A quota that is used up ends the run, resumable. */
export async function openPaces(
  settings: Pick<EnrichSettings, "rate"> & EndpointRates,
  { quotas, shared, clock, onEarlyEnd }: OpenPacesOptions,
): Promise<Paces> {
  const { rate = [] } = settings;
  const own = eachEndpoint((endpoint) => ratesOf(endpoint, settings));
  const all = [...rate, ...Object.values(own).flat()];
  const store = shared?.quotas ?? (await quotaStoreFor(all, quotas));
  const onUsedUp = (used: Rate, goesOnAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, goesOnAtMs));
  const common = { clock, onUsedUp };
  const ofAll = { store, name: quotaOfAll };
  const ofRun = new Pace({ ...common, rates: rate, adaptive: true, quotas: ofAll });
  const shares: Paces["shares"] = {};
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
    run: shared?.pace ?? ofRun,
    shares,
    async giveBack() {
      for (const pace of [ofRun, ...Object.values(shares)]) await pace.giveBack();
    },
  };
}

/** Under which name the requests of all endpoints are counted together. */
export const quotaOfAll = "all";

/** Where quotas among the rates are counted. Most runs have none, and load nothing for it. */
export async function quotaStoreFor(
  rates: readonly Rate[],
  places: QuotaPlaces | null,
): Promise<QuotaStore> {
  if (places === null || !rates.some(isQuota)) return new MemoryQuotaStore();
  const { openQuotas } = await import("../../store/quota/open-quotas.js");
  return openQuotas(places);
}

/** What a run, or a command, ends with when a quota is used up. */
export function quotaUsedUp({ count, perMs }: Rate, goesOnAtMs: number): EarlyEndError {
  const hours = perMs / 3_600_000;
  const nextMinuteMs = Math.ceil(goesOnAtMs / 60_000) * 60_000;
  const at = new Date(nextMinuteMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError(
    "quota_used_up",
    `the quota of ${count} requests in ${hours} h is used up until ${at}`,
  );
}
