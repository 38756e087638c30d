import type { CacheUpkeep } from "../cache/cache-stats.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { answerPrefix, unpackEntry } from "./redis-cache.js";
import { RedisLink } from "./redis-link.js";

/** Keys per round trip. */
const batchSize = 512;

/** The upkeep of a cache in a Redis database. Other keys of the database stay. */
export const redisUpkeep: CacheUpkeep = {
  each,
  clear: (address, signal) => each(address, () => false, signal),
};

/** Visits all answers, some of them twice if others are stored meanwhile. */
async function each(
  address: string,
  keeps: (entry: string | null) => boolean,
  signal?: AbortSignal,
): ReturnType<CacheUpkeep["each"]> {
  let fault: string | null = null;
  const link = await RedisLink.open(address, {
    environment: process.env,
    onAway: (reason) => (fault ??= reason),
  });
  const { client } = link;
  const { shown: folder } = link.address;
  let bytes = 0;
  try {
    const keysMatch = ["MATCH", `${answerPrefix}*`, "COUNT", batchSize] as const;
    for (let cursor: string | null = "0"; cursor !== null;) {
      signal?.throwIfAborted();
      const [next, keys]: [string, string[]] = await client.scan(cursor, ...keysMatch);
      cursor = next === "0" ? null : next;
      if (keys.length === 0) continue;
      const sizes = await Promise.all(keys.map((key) => client.memory("USAGE", key)));
      bytes += sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
      const values = await client.mgetBuffer(...keys);
      // Redis itself drops answers whose TTL is over, also meanwhile.
      const gone = keys.filter((_, at) => {
        const value = values[at] ?? null;
        return value !== null && !keeps(unpackEntry(value));
      });
      if (gone.length > 0) await client.unlink(...gone);
    }
  } catch (error) {
    if (signal?.aborted === true) throw error;
    const reason = fault ?? (error as Error).message;
    throw new FatalError("cache_unusable", `cannot read the cache ${folder}: ${reason}`, {
      cause: error,
      hint: "check that Redis runs and can be reached",
    });
  } finally {
    link.close();
  }
  if (bytes > 0) return { folder, bytes };
  throw new UsageError("no_cache", `there are no answers in ${folder}`, {
    hint: "check the address; a run with --cache fills it",
  });
}
