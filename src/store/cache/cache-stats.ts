import { lookupOfKey } from "../cache-key.js";
import {
  type AnswerKind,
  answerKinds,
  decodeEntry,
  isFresh,
  readEntryHead,
} from "./cache-entry.js";

export interface CacheStats {
  readonly folder: string;
  /** Size of its files in bytes. */
  readonly bytes: number;
  readonly entries: number;
  /** Entries that a run would use now. */
  readonly fresh: number;
  readonly expired: number;
  /** Entries that fail their checksum; no run uses them. */
  readonly damaged: number;
  readonly kinds: Readonly<Record<AnswerKind, number>>;
  /** `address endpoint` → entries. */
  readonly lookups: Readonly<Record<string, number>>;
  /** When the oldest and the newest entry were stored, RFC 3339 UTC; null if there are none. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

export interface UpkeepOptions {
  /** Lifetime of full answers in milliseconds. */
  readonly ttlMs: number;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Aborts between two batches. */
  readonly signal?: AbortSignal | undefined;
}

/** Access to all entries of a cache, in a folder or in Redis. */
export interface CacheUpkeep {
  /**
   * Visits all entries and removes those that `keeps` rejects; null stands for one that cannot be read.
   *
   * @returns the name of the cache, and its size before
   * @throws UsageError `no_cache`, FatalError if it cannot be read or written
   */
  each(
    cache: string,
    keeps: (entry: string | null) => boolean,
    signal?: AbortSignal,
  ): Promise<Pick<CacheStats, "folder" | "bytes">>;
  /**
   * Removes everything, intact or damaged.
   *
   * @throws UsageError `no_cache`, FatalError if it cannot be removed
   */
  clear(cache: string, signal?: AbortSignal): Promise<Pick<CacheStats, "folder" | "bytes">>;
}

/** Counts the contents of a cache. @throws as `each` */
export async function cacheStats(
  upkeep: CacheUpkeep,
  cache: string,
  options: UpkeepOptions,
): Promise<CacheStats> {
  const counts = new CacheCounts();
  const count = (entry: string | null): boolean => {
    counts.add(entry, options);
    return true;
  };
  const { folder, bytes } = await upkeep.each(cache, count, options.signal);
  return counts.stats(folder, bytes);
}

/** Removes expired and damaged entries of a cache. @throws as `each` */
export async function pruneCache(
  upkeep: CacheUpkeep,
  cache: string,
  { now, ttlMs, signal }: UpkeepOptions,
): Promise<Record<"removed" | "kept", number> & { folder: string }> {
  let [removed, kept] = [0, 0];
  const isUsed = (entry: string | null): boolean => {
    const head = readEntryHead(entry);
    const used = head !== null && isFresh(head, now, ttlMs);
    if (used) kept++;
    else removed++;
    return used;
  };
  const { folder } = await upkeep.each(cache, isUsed, signal);
  return { folder, removed, kept };
}

class CacheCounts {
  readonly #counts = { entries: 0, fresh: 0, damaged: 0 };
  readonly #kinds = Object.fromEntries(answerKinds.map((kind) => [kind, 0])) as Record<
    AnswerKind,
    number
  >;
  readonly #lookups = new Map<string, number>();
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  /** @param entry null for one that cannot be read */
  add(entry: string | null, { now, ttlMs }: UpkeepOptions): void {
    this.#counts.entries++;
    const head = readEntryHead(entry);
    if (entry === null || head === null) {
      this.#counts.damaged++;
      return;
    }
    if (isFresh(head, now, ttlMs)) this.#counts.fresh++;
    this.#kinds[head.kind]++;
    this.#oldest = Math.min(this.#oldest, head.storedAt);
    this.#newest = Math.max(this.#newest, head.storedAt);
    const lookup = lookupOfKey(decodeEntry(entry).key);
    this.#lookups.set(lookup, (this.#lookups.get(lookup) ?? 0) + 1);
  }

  stats(folder: string, bytes: number): CacheStats {
    const { entries, fresh, damaged } = this.#counts;
    return {
      folder,
      bytes,
      ...this.#counts,
      expired: entries - fresh - damaged,
      kinds: this.#kinds,
      lookups: Object.fromEntries([...this.#lookups].sort(([a], [b]) => (a < b ? -1 : 1))),
      oldest: timeText(this.#oldest),
      newest: timeText(this.#newest),
    };
  }
}

function timeText(ms: number): string | null {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : null;
}
