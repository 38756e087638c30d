import { lookupOfKey } from "../cache-key.js";
import { type AnswerKind, decodeEntry, isFresh, readEntryHead } from "./cache-entry.js";

/** Contents of a cache. */
export interface CacheStats {
  /** Folder, or address of the Redis. */
  readonly folder: string;
  /** Size in bytes. */
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

/** Result of pruning. */
export interface PruneResult {
  readonly removed: number;
  readonly kept: number;
}

/** Whether a run would use an entry; null is one that cannot be read. */
export function isUsedEntry(entry: string | null, now: number, ttlMs: number): boolean {
  const head = readEntryHead(entry);
  return head !== null && isFresh(head, now, ttlMs);
}

/** Counts the entries of a cache. */
export class EntryCounter {
  readonly #ttlMs: number;
  readonly #counts = { entries: 0, fresh: 0, damaged: 0 };
  readonly #kinds = { full: 0, partial: 0, invalid: 0, bogon: 0 } satisfies CacheStats["kinds"];
  readonly #lookups = new Map<string, number>();
  #oldest = Number.POSITIVE_INFINITY;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  /** Counts an entry; null is one that cannot be read. */
  add(entry: string | null, now: number): void {
    this.#counts.entries++;
    const head = readEntryHead(entry);
    if (entry === null || head === null) {
      this.#counts.damaged++;
      return;
    }
    this.#kinds[head.kind]++;
    if (isFresh(head, now, this.#ttlMs)) this.#counts.fresh++;
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
