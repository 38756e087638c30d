import {
  type AnswerKind,
  answerKinds,
  decodeEntry,
  isFresh,
  readEntryHead,
} from "../cache/cache-entry.js";
import { lookupOfKey } from "../cache-key.js";
import type { CacheStats, PruneResult, UpkeepOptions } from "../cache/cache-upkeep.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { answerPrefix, unpackEntry } from "./redis-cache.js";
import { RedisLink } from "./redis-link.js";

/** Keys per round trip. */
const batchSize = 512;

/**
 * Counts the answers in a Redis database.
 *
 * @throws UsageError `no_cache`; FatalError if the server does not answer
 */
export async function redisCacheStats(
  address: string,
  options: UpkeepOptions,
): Promise<CacheStats> {
  const kinds = Object.fromEntries(answerKinds.map((kind) => [kind, 0])) as Record<
    AnswerKind,
    number
  >;
  const lookups = new Map<string, number>();
  const counts = { bytes: 0, entries: 0, fresh: 0, damaged: 0 };
  const stored: number[] = [];
  const shown = await eachBatch(address, options, async (link, keys, values, now) => {
    counts.bytes += await memoryOf(link, keys);
    for (const entry of values.flatMap((value) => (value === null ? [] : [unpackEntry(value)]))) {
      counts.entries++;
      const head = entry === null ? null : readEntryHead(entry);
      if (entry === null || head === null) {
        counts.damaged++;
        continue;
      }
      kinds[head.kind]++;
      if (isFresh(head, now, options.ttlMs)) counts.fresh++;
      stored[0] = Math.min(stored[0] ?? head.storedAt, head.storedAt);
      stored[1] = Math.max(stored[1] ?? head.storedAt, head.storedAt);
      const lookup = lookupOfKey(decodeEntry(entry).key);
      lookups.set(lookup, (lookups.get(lookup) ?? 0) + 1);
    }
  });
  const time = (ms: number | undefined): string | null =>
    ms === undefined ? null : new Date(ms).toISOString();
  return {
    folder: shown,
    ...counts,
    expired: counts.entries - counts.fresh - counts.damaged,
    kinds,
    lookups: Object.fromEntries([...lookups].sort(([a], [b]) => (a < b ? -1 : 1))),
    oldest: time(stored[0]),
    newest: time(stored[1]),
  };
}

/**
 * Removes expired and damaged answers. Redis itself drops those whose TTL is over.
 *
 * @throws UsageError `no_cache`; FatalError if the server does not answer
 */
export async function pruneRedisCache(
  address: string,
  options: UpkeepOptions,
): Promise<PruneResult & { readonly folder: string }> {
  let [removed, kept] = [0, 0];
  const folder = await eachBatch(address, options, async (link, keys, values, now) => {
    const gone = keys.filter((_key, at) => {
      const value = values[at] ?? null;
      const entry = value === null ? null : unpackEntry(value);
      const head = entry === null ? null : readEntryHead(entry);
      return head === null || !isFresh(head, now, options.ttlMs);
    });
    if (gone.length > 0) await link.client.unlink(...gone);
    removed += gone.length;
    kept += keys.length - gone.length;
  });
  return { folder, removed, kept };
}

/**
 * Removes all answers. Other keys of the database stay.
 *
 * @returns bytes freed
 * @throws UsageError `no_cache`; FatalError if the server does not answer
 */
export async function clearRedisCache(
  address: string,
  signal: AbortSignal,
): Promise<{ readonly folder: string; readonly bytes: number }> {
  let bytes = 0;
  const folder = await eachBatch(address, { signal }, async (link, keys) => {
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
