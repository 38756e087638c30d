import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { dataFile, environmentNames } from "./cache-environment.js";
import { decodeEntry, entryHash, isIntact, readEntryHead } from "./cache-entry.js";
import { lookupOfKey } from "./cache-key.js";
import { cacheFault } from "./cache-fault.js";
import type { CacheFile, PlacedEntry } from "./cache-file.js";
import { markClosed } from "./closed-mark.js";
import { openCacheFile, removeStore, storeFolder } from "./open-cache-file.js";
import { type AnswerKind, answerKinds, isFresh } from "./shelf-life.js";

/** What a cache holds. */
export interface CacheStats {
  readonly folder: string;
  /** Size of its files. */
  readonly bytes: number;
  readonly entries: number;
  /** Entries that a run would use now. */
  readonly fresh: number;
  readonly expired: number;
  /** Entries whose bytes have changed; no run uses them. */
  readonly damaged: number;
  readonly kinds: Readonly<Record<AnswerKind, number>>;
  /** `address endpoint` → entries. */
  readonly lookups: Readonly<Record<string, number>>;
  /** When the oldest and the newest entry were kept, RFC 3339 UTC; null when there is none. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

export interface UpkeepOptions {
  /** How long full answers are fresh, in milliseconds. */
  readonly ttlMs: number;
  /** The time, in milliseconds since 1970. */
  readonly now: number;
  readonly onWarning: (message: string) => void;
  /** Aborting it ends the work between two steps. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Counts what a cache holds.
 *
 * @throws UsageError `no_cache`, FatalError when it cannot be read
 */
export async function cacheStats(folder: string, options: UpkeepOptions): Promise<CacheStats> {
  const { ttlMs, now } = options;
  const kinds = Object.fromEntries(answerKinds.map((kind) => [kind, 0])) as Record<
    AnswerKind,
    number
  >;
  const lookups = new Map<string, number>();
  const counts = { entries: 0, fresh: 0, damaged: 0 };
  const kept = { oldest: Number.POSITIVE_INFINITY, newest: Number.NEGATIVE_INFINITY };
  await withCache(folder, options, async (file) => {
    for await (const entries of batches(file, options)) {
      for (const { bytes } of entries) {
        counts.entries++;
        if (!isIntact(bytes)) {
          counts.damaged++;
          continue;
        }
        const { kind, keptAt } = readEntryHead(bytes);
        kinds[kind]++;
        if (isFresh(kind, keptAt, now, ttlMs)) counts.fresh++;
        kept.oldest = Math.min(kept.oldest, keptAt);
        kept.newest = Math.max(kept.newest, keptAt);
        const lookup = lookupOfKey(decodeEntry(bytes).key);
        lookups.set(lookup, (lookups.get(lookup) ?? 0) + 1);
      }
    }
  });
  const time = (ms: number): string | null =>
    Number.isFinite(ms) ? new Date(ms).toISOString() : null;
  return {
    folder,
    bytes: bytesOf(folder),
    ...counts,
    expired: counts.entries - counts.fresh - counts.damaged,
    kinds,
    lookups: Object.fromEntries([...lookups].sort(([a], [b]) => (a < b ? -1 : 1))),
    oldest: time(kept.oldest),
    newest: time(kept.newest),
  };
}

/** What pruning came to. */
export interface PruneResult {
  readonly removed: number;
  readonly kept: number;
}

/**
 * Removes what no run would use: expired and damaged entries, and those that newer ones replaced.
 * The files keep their size; what is free in them is used for new entries.
 *
 * @throws UsageError `no_cache`, FatalError when it cannot be written
 */
export async function pruneCache(folder: string, options: UpkeepOptions): Promise<PruneResult> {
  const { ttlMs, now } = options;
  let removed = 0;
  let kept = 0;
  const isUsed = (file: CacheFile, { place, bytes }: PlacedEntry): boolean => {
    if (!isIntact(bytes)) return false;
    const { kind, keptAt } = readEntryHead(bytes);
    return isFresh(kind, keptAt, now, ttlMs) && file.leadsTo(entryHash(bytes), place);
  };
  await withCache(folder, options, async (file) => {
    for await (const entries of batches(file, options)) {
      const useless = entries.filter((entry) => !isUsed(file, entry));
      await file.remove(useless.map(({ place, bytes }) => ({ place, hash: entryHash(bytes) })));
      removed += useless.length;
      kept += entries.length - useless.length;
    }
  });
  return { removed, kept };
}

/**
 * Removes a cache's files, whatever state they are in. Runs that use it go on without it.
 *
 * @returns bytes that were freed
 * @throws UsageError `no_cache`, FatalError when they cannot be removed
 */
export function clearCache(folder: string): number {
  mustExist(folder);
  const bytes = bytesOf(folder);
  try {
    removeStore(folder);
  } catch (error) {
    throw new FatalError("cache_unusable", cacheFault(folder, "write", error), { cause: error });
  }
  return bytes;
}

/** Entries that are looked at at once. */
const batchSize = 1024;

async function* batches(
  file: CacheFile,
  { signal }: UpkeepOptions,
): AsyncGenerator<readonly PlacedEntry[]> {
  let last: Buffer | null = null;
  for (;;) {
    signal?.throwIfAborted();
    if (file.crowded) await file.remap();
    const entries = file.read(last, batchSize);
    last = entries.at(-1)?.place ?? null;
    if (last === null) return;
    yield entries;
    await turn();
  }
}

async function withCache(
  folder: string,
  { onWarning }: UpkeepOptions,
  use: (file: CacheFile) => Promise<void>,
): Promise<void> {
  mustExist(folder);
  try {
    const file = await openCacheFile(folder, { onWarning });
    try {
      await use(file);
    } finally {
      await file.close();
    }
    markClosed(storeFolder(folder));
  } catch (error) {
    if (error instanceof ReputeError) throw error;
    throw new FatalError("cache_unusable", cacheFault(folder, "read", error), { cause: error });
  }
}

function mustExist(folder: string): void {
  if (existsSync(storeFolder(folder))) return;
  throw new UsageError("no_cache", `there is no cache in ${folder}`, {
    hint: "it is made by a run with --cache DIR",
  });
}

function bytesOf(folder: string): number {
  return environmentNames
    .map((name) => join(storeFolder(folder), name, dataFile))
    .reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0);
}
