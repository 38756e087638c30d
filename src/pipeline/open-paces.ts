import { hash } from "node:crypto";
import type { Clock } from "../core/clock.js";
import { EarlyEndError } from "../core/errors.js";
import type { LookupEndpoint } from "../core/finding.js";
import { isQuota, type Rate } from "../core/options.js";
import { Pace } from "../lookup/pace.js";
import { MemoryQuotaStore, type QuotaStore } from "../lookup/quota-store.js";
import type { EnrichSettings } from "./options.js";

export interface OpenPacesOptions {
  /** Address of the service: each has quotas of its own. */
  readonly service: string;
  /** Where rates over an hour and longer are counted; null: in memory, for this run. */
  readonly quotaFolder: string | null;
  readonly clock: Clock;
  readonly onEarlyEnd: (error: EarlyEndError) => void;
}

/** The paces of a run: that of all endpoints, and what single ones have of their own. */
export interface Paces {
  readonly run: Pace;
  readonly shares: Partial<Record<LookupEndpoint, Pace>>;
  /** Gives back what quotas reserved, and closes their folder. */
  giveBack(): Promise<void>;
}

/** Makes the paces of a run from its rates. A quota that is used up ends the run, resumable. */
export async function openPaces(
  settings: Pick<EnrichSettings, "rate" | "rateQuery" | "rateQuickCheck">,
  { service, quotaFolder, clock, onEarlyEnd }: OpenPacesOptions,
): Promise<Paces> {
  const { rate = [], rateQuery = [], rateQuickCheck = [] } = settings;
  const counted = [...rate, ...rateQuery, ...rateQuickCheck].some(isQuota);
  const store = await openStore(counted ? quotaFolder : null);
  const address = hash("sha256", service).slice(0, 16);
  const onUsedUp = (used: Rate, goesOnAtMs: number): void => onEarlyEnd(usedUp(used, goesOnAtMs));
  const paceOf = (rates: readonly Rate[], scope: string): Pace =>
    new Pace({
      rates,
      isShare: true,
      clock,
      onUsedUp,
      quotas: { store, name: `${address} ${scope}` },
    });
  const run = new Pace({
    rates: rate,
    adaptive: true,
    clock,
    onUsedUp,
    quotas: { store, name: `${address} all` },
  });
  const shares: Paces["shares"] = {
    ...(rateQuery.length > 0 ? { query: paceOf(rateQuery, "query") } : {}),
    ...(rateQuickCheck.length > 0 ? { "quick-check": paceOf(rateQuickCheck, "quick-check") } : {}),
  };
  return {
    run,
    shares,
    async giveBack() {
      for (const pace of [run, ...Object.values(shares)]) pace.giveBack();
      await store.close();
    },
  };
}

/** LMDB is loaded for a quota alone: most runs have none. */
async function openStore(folder: string | null): Promise<QuotaStore> {
  if (folder === null) return new MemoryQuotaStore();
  const { openQuotaStore } = await import("../lookup/quota-folder.js");
  return openQuotaStore(folder);
}

function usedUp({ count, perMs }: Rate, goesOnAtMs: number): EarlyEndError {
  const hours = perMs / 3_600_000;
  const at = new Date(goesOnAtMs).toISOString().replace(/:\d\d\.\d+Z$/, "Z");
  return new EarlyEndError(
    "quota_used_up",
    `the quota of ${count} requests in ${hours} h is used up until ${at}`,
  );
}
