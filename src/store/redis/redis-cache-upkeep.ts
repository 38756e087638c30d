import {
  CacheCounts,
  type CacheStats,
  type CacheUpkeep,
  isUsed,
  type UpkeepOptions,
} from "../cache/cache-stats.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { answerPrefix, unpackEntry } from "./redis-cache.js";
import { RedisLink } from "./redis-link.js";

/** Keys per round trip. */
const batchSize = 512;

/** The upkeep of a cache in a Redis database. Errors also say that the server does not answer. */
export const redisUpkeep: CacheUpkeep = { stats, prune, clear };

async function stats(address: string, options: UpkeepOptions): Promise<CacheStats> {
  const counts = new CacheCounts();
  let bytes = 0;
  const shown = await eachBatch(address, options, async (link, keys, values, now) => {
    bytes += await memoryOf(link, keys);
    for (const value of values) {
      if (value !== null) counts.add(unpackEntry(value), { ...options, now });
    }
  });
  return counts.stats(shown, bytes);
}

/** Redis itself drops answers whose TTL is over. */
async function prune(address: string, options: UpkeepOptions): ReturnType<CacheUpkeep["prune"]> {
  let [removed, kept] = [0, 0];
  const folder = await eachBatch(address, options, async (link, keys, values, now) => {
    const gone = keys.filter((_key, at) => {
      const value = values[at] ?? null;
      return !isUsed(value && unpackEntry(value), { ...options, now });
    });
    if (gone.length > 0) await link.client.unlink(...gone);
    removed += gone.length;
    kept += keys.length - gone.length;
  });
  return { folder, removed, kept };
}

/** Other keys of the database stay. */
async function clear(
  address: string,
  options: Pick<UpkeepOptions, "signal">,
): ReturnType<CacheUpkeep["clear"]> {
  let bytes = 0;
  const folder = await eachBatch(address, options, async (link, keys) => {
    bytes += await memoryOf(link, keys);
    await link.client.unlink(...keys);
  });
  return { folder, bytes };
}

async function memoryOf(link: RedisLink, keys: readonly string[]): Promise<number> {
  const sizes = await Promise.all(keys.map((key) => link.client.memory("USAGE", key)));
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

type Visit = (
  link: RedisLink,
  keys: readonly string[],
  values: readonly (Buffer | null)[],
  now: number,
) => Promise<void>;

/** Visits all answers, some of them twice if others are stored meanwhile. Resolves to the address shown. */
async function eachBatch(
  address: string,
  { signal }: Pick<UpkeepOptions, "signal">,
  visit: Visit,
): Promise<string> {
  let fault: string | null = null;
  const link = await RedisLink.open(address, {
    environment: process.env,
    onAway: (reason) => (fault ??= reason),
  });
  const { shown } = link.address;
  try {
    const [seconds] = await link.client.time();
    let [cursor, isEmpty] = ["0", true];
    do {
      signal?.throwIfAborted();
      const [next, keys] = await link.client.scan(
        cursor,
        "MATCH",
        `${answerPrefix}*`,
        "COUNT",
        batchSize,
      );
      cursor = next;
      if (keys.length === 0) continue;
      isEmpty = false;
      await visit(link, keys, await link.client.mgetBuffer(...keys), Number(seconds) * 1000);
    } while (cursor !== "0");
    if (!isEmpty) return shown;
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const reason = fault ?? (error as Error).message;
    throw new FatalError("cache_unusable", `cannot read the cache ${shown}: ${reason}`, {
      cause: error,
      hint: "check that Redis runs and can be reached",
    });
  } finally {
    link.close();
  }
  throw new UsageError("no_cache", `there are no answers in ${shown}`, {
    hint: "check the address; a run with --cache fills it",
  });
}
