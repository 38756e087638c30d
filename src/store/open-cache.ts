import { isRedisAddress } from "./redis/redis-address.js";
import type { FindingStore } from "./store.js";
import type { CacheOptions } from "./cache/finding-cache.js";

/** Opens the cache in a folder, or in Redis if that is named by its address. */
export async function openCacheAt(options: CacheOptions): Promise<FindingStore> {
  if (isRedisAddress(options.folder)) {
    const { openRedisCache } = await import("./redis/redis-cache.js");
    return openRedisCache(options);
  }
  const { openCache } = await import("./cache/finding-cache.js");
  return openCache(options);
}
