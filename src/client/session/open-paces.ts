import { isQuota, type Rate } from "../../core/options.js";
import { Pace } from "../pace/pace.js";
import type { QuotaStore } from "../store/quota/quota.js";
import {
  type OpenPacesOptions,
  type Paces,
  type PaceSettings,
  pacesOf,
  quotaUsedUp,
} from "./paces.js";

/** Creates the paces of a run from its rates. A spent quota ends the run, which can be resumed. */
export async function openPaces(settings: PaceSettings, options: OpenPacesOptions): Promise<Paces> {
  const { clock, onEarlyEnd } = options;
  const store = await quotaStoreFor(settings.rate ?? [], options);
  const onUsedUp = (used: Rate | null, resumesAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, resumesAtMs));
  return pacesOf(settings, (name, rates) => {
    const quotas = store && { store, name };
    return new Pace({ rates, clock, quotas, onUsedUp });
  });
}

/** Opens the store that counts quotas; undefined without a quota. */
async function quotaStoreFor(
  rates: readonly Rate[],
  { service, stateFolder, onWarning }: OpenPacesOptions,
): Promise<QuotaStore | undefined> {
  if (!rates.some(isQuota)) return undefined;
  const { openQuotas } = await import("../store/quota/open-quotas.js");
  const isKept = service !== null && stateFolder !== null;
  return openQuotas(isKept ? { service, stateFolder, onWarning } : null);
}
