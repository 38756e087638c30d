import { randomUUID } from "node:crypto";
import { UsageError } from "../core/errors.js";
import { eachEndpoint, type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import type { Rate } from "../core/options.js";
import { ratesOf } from "../lookup/options.js";
import { SharedPace } from "../lookup/pace/shared/shared-pace.js";
import { PaceServer } from "../store/redis/pace-server.js";
import { RedisLink } from "../store/redis/redis-link.js";
import { RedisProbes } from "../store/redis/redis-probes.js";
import { RedisQuotaStore } from "../store/redis/redis-quota-store.js";
import {
  type OpenPacesOptions,
  type PaceSettings,
  type Paces,
  quotaOfAll,
  quotaUsedUp,
} from "./paces.js";

type Settings = PaceSettings & { readonly pace: string };

/**
 * Opens the paces of a run in Redis, shared with all runs that name it and the same service.
 *
 * @throws UsageError `pace_with_local`, `driver_missing`; FatalError `redis_refused`
 */
export async function openSharedPaces(
  settings: Settings,
  { service, onWarning, clock, onEarlyEnd }: OpenPacesOptions,
): Promise<Paces> {
  if (service === null) {
    throw new UsageError("pace_with_local", "--pace needs a service that others use too", {
      hint: "omit it with --local, whose service ends with the run",
    });
  }
  const { rate = [], pace: address, priority = "normal" } = settings;
  const link = await openPaceLink(address, onWarning);
  const id = randomUUID();
  const store = new RedisQuotaStore(link, service);
  const onUsedUp = (used: Rate, resumesAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, resumesAtMs));
  const open = (scope: string, rates: readonly Rate[], isShare: boolean): SharedPace => {
    const pace = new SharedPace({
      server: new PaceServer(link, { id, service, scope, priority }),
      rates,
      clock,
      isShare,
      quotas: { store, name: scope },
      onUsedUp,
    });
    link.onLost(() => pace.lost());
    return pace;
  };
  const run = open(quotaOfAll, rate, false);
  const own = eachEndpoint((endpoint) => ratesOf(endpoint, settings));
  const shares: Partial<Record<LookupEndpoint, SharedPace>> = {};
  for (const name of lookupEndpoints) {
    if (own[name].length > 0) shares[name] = open(name, own[name], true);
  }
  return {
    run,
    shares,
    throttling: () => run.shown.throttling,
    pausedMs: () => run.shown.pausedMs,
    probes: new RedisProbes(link, { id, service }),
    async giveBack() {
      for (const pace of [run, ...Object.values(shares)]) await pace.giveBack();
      link.close();
    },
  };
}

/** Connects to the Redis of a pace. While it is away, nothing is sent; `onWarning` says so. */
function openPaceLink(address: string, onWarning: (message: string) => void): Promise<RedisLink> {
  return RedisLink.open(address, {
    environment: process.env,
    onAway: (reason, shown) =>
      onWarning(`${shown} is away (${reason}); nothing is sent until it is back`),
    onBack: (seconds, shown) => onWarning(`${shown} is back after ${seconds} s; the run continues`),
  });
}
