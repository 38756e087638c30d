import { randomUUID } from "node:crypto";
import { UsageError } from "../core/errors.js";
import type { Rate } from "../core/options.js";
import { Pace } from "../lookup/pace/pace.js";
import { SharedSlots } from "../lookup/pace/shared-slots.js";
import { PaceServer } from "../store/redis/pace-server.js";
import { RedisProbeLease } from "../store/redis/redis-probe-lease.js";
import { RedisLink } from "../store/redis/redis-link.js";
import { RedisQuotaStore } from "../store/redis/redis-quota-store.js";
import {
  type OpenPacesOptions,
  type PaceSettings,
  type Paces,
  pacesOf,
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
  const { pace: address, priority = "normal" } = settings;
  const link = await openPaceLink(address, onWarning);
  const id = randomUUID();
  const store = new RedisQuotaStore(link, service);
  const onUsedUp = (used: Rate | null, resumesAtMs: number): void =>
    onEarlyEnd(quotaUsedUp(used, resumesAtMs));
  const paces = pacesOf(settings, (scope, rates) => {
    const server = new PaceServer(link, { id, service, scope, priority });
    const slots = new SharedSlots({ server, rates, clock });
    link.onLost(() => slots.lost());
    return new Pace({ rates, clock, slots, quotas: { store, name: scope }, onUsedUp });
  });
  const lease = new RedisProbeLease(link, service);
  return {
    ...paces,
    lease,
    async giveBack() {
      await paces.giveBack();
      await lease.release();
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
