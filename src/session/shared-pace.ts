import { randomUUID } from "node:crypto";
import { UsageError } from "../core/errors.js";
import type { Clock } from "../core/clock.js";
import { isQuota, type Rate } from "../core/options.js";
import type { OutageProbes } from "../lookup/attempt/outage.js";
import type { Limiter } from "../lookup/pace/limiter.js";
import { SharedLimiter } from "../lookup/pace/shared/shared-limiter.js";
import type { QuotaStore } from "../store/quota/quota-store.js";
import { PaceServer } from "../store/redis/pace-server.js";
import type { Priority } from "../store/redis/redis-address.js";
import { RedisLink } from "../store/redis/redis-link.js";
import { RedisProbes } from "../store/redis/redis-probes.js";
import { RedisQuotaStore } from "../store/redis/redis-quota-store.js";

interface SharedPaceOptions {
  /** Address of the Redis. */
  readonly pace: string;
  readonly priority?: Priority | undefined;
  /** Address of the service; null for one that ends with this process. */
  readonly service: string | null;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

/** What paces share in Redis with all runs that name it and the same service. */
export interface SharedPace {
  readonly store: QuotaStore;
  readonly probes: OutageProbes;
  /** Makes the limiter of all endpoints, or of one. */
  limiter(scope: string, rates: readonly Rate[]): (onChange: () => void) => Limiter;
  close(): void;
}

/** @throws UsageError `pace_with_local`, `driver_missing`; FatalError `redis_refused` */
export async function openSharedPace({
  pace: address,
  priority = "normal",
  service,
  clock,
  onWarning,
}: SharedPaceOptions): Promise<SharedPace> {
  if (service === null) {
    throw new UsageError("pace_with_local", "--pace needs a service that others use too", {
      hint: "omit it with --local, whose service ends with the run",
    });
  }
  const link = await RedisLink.open(address, {
    environment: process.env,
    onAway: (reason, shown) =>
      onWarning(`${shown} is away (${reason}); nothing is sent until it is back`),
    onBack: (seconds, shown) => onWarning(`${shown} is back after ${seconds} s; the run continues`),
  });
  const id = randomUUID();
  return {
    store: new RedisQuotaStore(link, service),
    probes: new RedisProbes(link, { id, service }),
    limiter: (scope, all) => (onChange) => {
      const server = new PaceServer(link, { id, service, scope, priority });
      const rates = all.filter((rate) => !isQuota(rate));
      const limiter = new SharedLimiter({ server, rates, clock }, onChange);
      link.onLost(() => limiter.lost());
      return limiter;
    },
    close: () => link.close(),
  };
}
