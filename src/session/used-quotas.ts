import { isQuota, type Rate } from "../core/options.js";
import { quotaName } from "../store/quota/quota.js";
import type { QuotaLocation, ScopedQuota } from "../store/quota/quota-file.js";
import type { RedisQuotaStore } from "../store/redis/redis-quota-store.js";
import { quotaOfAll } from "./paces.js";

/** Where the quotas of a service are counted. */
export interface QuotaCounter extends Pick<QuotaLocation, "service" | "onWarning"> {
  /** Address of the Redis that counts them for every run of a shared pace. */
  readonly pace?: string | undefined;
  readonly stateFolder: string | null;
  /** Its `REDISCLI_AUTH` is used. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The quotas among the rates of a run. */
export function quotasOf(rates: readonly Rate[] = []): readonly ScopedQuota[] {
  return rates.filter(isQuota).map((rate) => ({ scope: quotaOfAll, rate }));
}

/**
 * How many requests count against each quota now; null if nothing can tell.
 *
 * @throws UsageError `driver_missing`; FatalError `redis_refused`
 */
export async function usedQuotas(
  counter: QuotaCounter,
  quotas: readonly ScopedQuota[],
  nowMs: number,
): Promise<readonly number[] | null> {
  const { pace, service, stateFolder, onWarning } = counter;
  if (pace !== undefined) {
    return askRedis({ ...counter, pace }, (store) =>
      Promise.all(quotas.map(({ scope, rate }) => store.spent(quotaName(scope, rate)))),
    );
  }
  if (stateFolder === null) return null;
  const { readQuotas } = await import("../store/quota/quota-file.js");
  return readQuotas({ service, stateFolder, onWarning }, quotas, nowMs).map(({ spent }) => spent);
}

async function askRedis<T>(
  { pace, service, environment = process.env, onWarning }: QuotaCounter & { readonly pace: string },
  ask: (store: RedisQuotaStore) => Promise<T>,
): Promise<T | null> {
  const [{ RedisLink }, { RedisQuotaStore }] = await Promise.all([
    import("../store/redis/redis-link.js"),
    import("../store/redis/redis-quota-store.js"),
  ]);
  let isAway = false;
  const onAway = (reason: string, shown: string): void => {
    isAway = true;
    onWarning(`${shown} is away (${reason}): the use of quotas is unknown`);
  };
  const link = await RedisLink.open(pace, { environment, onAway });
  try {
    const answer = isAway ? null : await ask(new RedisQuotaStore(link, service));
    return isAway ? null : answer;
  } catch (error) {
    if (isAway) return null;
    throw error;
  } finally {
    link.close();
  }
}
