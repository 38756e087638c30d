import { setImmediate as turn } from "node:timers/promises";
import { ReputeError, UsageError } from "../../core/errors.js";
import { closeDatabase, type Database, transact } from "../sqlite.js";
import {
  type AnswerKind,
  answerKinds,
  decodeEntry,
  isFresh,
  readEntryHead,
} from "./cache-entry.js";
import {
  cacheBytes,
  cacheFault,
  slotNames,
  hasCache,
  openCacheFile,
  removeCache,
} from "./cache-file.js";
import { lookupOfKey } from "../cache-key.js";

/** Contents of a cache. */
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

/**
 * Counts a cache's contents.
 * @throws UsageError `no_cache`, FatalError if it cannot be read
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
  await eachBatch(folder, options, (_database, rows) => {
    for (const entry of rows.flatMap(([, ...entries]) => entries)) {
      if (entry === null) continue;
      counts.entries++;
      const head = readEntryHead(entry);
      if (head === null) {
        counts.damaged++;
        continue;
      }
      kinds[head.kind]++;
      if (isFresh(head, now, ttlMs)) counts.fresh++;
      kept.oldest = Math.min(kept.oldest, head.storedAt);
      kept.newest = Math.max(kept.newest, head.storedAt);
      const lookup = lookupOfKey(decodeEntry(entry).key);
      lookups.set(lookup, (lookups.get(lookup) ?? 0) + 1);
    }
  });
  const time = (ms: number): string | null =>
    Number.isFinite(ms) ? new Date(ms).toISOString() : null;
  return {
    folder,
    bytes: cacheBytes(folder),
    ...counts,
    expired: counts.entries - counts.fresh - counts.damaged,
    kinds,
    lookups: Object.fromEntries([...lookups].sort(([a], [b]) => (a < b ? -1 : 1))),
    oldest: time(kept.oldest),
    newest: time(kept.newest),
  };
}

/** Result of pruning. */
export interface PruneResult {
  readonly removed: number;
  readonly kept: number;
}

/**
 * Removes expired and damaged entries. The file keeps its size; freed space is reused for new
 * entries.
 * @throws UsageError `no_cache`, FatalError if it cannot be written
 */
export async function pruneCache(folder: string, options: UpkeepOptions): Promise<PruneResult> {
  const { ttlMs, now } = options;
  let [removed, kept] = [0, 0];
  const isUsed = (entry: string | null): boolean => {
    const head = entry === null ? null : readEntryHead(entry);
    return head !== null && isFresh(head, now, ttlMs);
  };
  const changes = slotNames.map((column) => `${column} = ?`).join();
  await eachBatch(folder, options, (database, rows) => {
    const update = database.prepare(`UPDATE answers SET ${changes} WHERE n = ?`);
    const remove = database.prepare("DELETE FROM answers WHERE n = ?");
    for (const [n, ...entries] of rows) {
      const before = entries.filter((entry) => entry !== null).length;
      const after = entries.filter(isUsed).length;
      removed += before - after;
      kept += after;
      if (after === 0) remove.run(n);
      else if (after < before)
        update.run(...entries.map((each) => (isUsed(each) ? each : null)), n);
    }
  });
  return { removed, kept };
}

/**
 * Removes a cache's files in any state. Runs that use it continue without it.
 * @returns bytes freed
 * @throws UsageError `no_cache`, FatalError if they cannot be removed
 */
export function clearCache(folder: string): number {
  mustExist(folder);
  const bytes = cacheBytes(folder);
  try {
    removeCache(folder);
  } catch (error) {
    throw cacheFault(folder, "write", error);
  }
  return bytes;
}

/** Rows per transaction. */
const batchSize = 512;

type NumberedRow = readonly [n: number, ...entries: (string | null)[]];

/** Visits all rows, one transaction per batch. */
async function eachBatch(
  folder: string,
  { signal }: UpkeepOptions,
  visit: (database: Database, rows: readonly NumberedRow[]) => void,
): Promise<void> {
  mustExist(folder);
  try {
    const database = await openCacheFile(folder);
    if (database === null) return;
    try {
      const select = database.prepare(
        `SELECT n, ${slotNames.join()} FROM answers WHERE n > ? ORDER BY n LIMIT ${batchSize}`,
      );
      select.setReturnArrays(true);
      for (let last: number | undefined = Number.MIN_SAFE_INTEGER; last !== undefined;) {
        signal?.throwIfAborted();
        const behind: number = last;
        last = transact(database, () => {
          const rows = select.all(behind) as unknown as readonly NumberedRow[];
          visit(database, rows);
          return rows.at(-1)?.[0];
        });
        await turn();
      }
    } finally {
      closeDatabase(database);
    }
  } catch (error) {
    if (error instanceof ReputeError || signal?.aborted === true) throw error;
    throw cacheFault(folder, "read", error);
  }
}

function mustExist(folder: string): void {
  if (hasCache(folder)) return;
  throw new UsageError("no_cache", `there is no cache in ${folder}`, {
    hint: "check the path; a run with --cache DIR creates it",
  });
}
