import { isRedisAddress } from "./redis/redis-address.js";
import type { FindingStore } from "./store.js";
import type { CacheOptions } from "./cache/finding-cache.js";

export async function openCacheAt(options: CacheOptions): Promise<FindingStore> {
  if (isRedisAddress(options.folder)) {
    const { openRedisCache } = await import("./redis/redis-cache.js");
    return openRedisCache(options);
  }
  const { openCache } = await import("./cache/finding-cache.js");
  return openCache(options);
}
