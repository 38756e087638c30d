import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { FatalError, type ReputeError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import type { Finding } from "../../core/finding.js";
import {
  AnswerTable,
  keyHash,
  type ReadBackOptions,
  storedRecord,
  type StoredAnswer,
} from "./answer-table.js";
import { explainFault, SqliteFile } from "./sqlite-file.js";
import { Batch, type FindingStore } from "./store.js";

interface CacheOptions extends ReadBackOptions {
  /** Folder of the cache. Created with owner-only permissions if missing. */
  readonly folder: string;
  /** Lifetime of complete answers in milliseconds. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  /** Called when the cache, or part of it, cannot be used. */
  readonly onWarning: (message: string) => void;
  /** Never create, write or replace files; a missing cache reads as empty. @default false */
  readonly readOnly?: boolean | undefined;
}

/** Lifetime of a partial answer, as a share of the TTL: missing data is usually back soon. */
const partialLifetime = 1 / 24;

/** The cache's files have a folder of their own, which can be deleted at any time. */
function pathIn(cache: string): string {
  return join(cache, "answers", "answers.db");
}

/**
 * Opens a cache as a run does, but creates none.
 *
 * @returns its size in bytes; null if there is none
 * @throws FatalError `cache_version`, `cache_damaged`, `cache_unusable`
 */
export function cacheSize(cache: string): number | null {
  try {
    const file = openFile(cache, true);
    file?.close();
    return file && statSync(file.path).size;
  } catch (error) {
    throw cacheFault(cache, "open", error);
  }
}

/** Opens the file of a cache, creating it if missing; null only with `readOnly`, if there is none. */
function openFile(cache: string, readOnly: boolean): SqliteFile | null {
  const path = pathIn(cache);
  if (!existsSync(path)) {
    if (readOnly) return null;
    makeFolder(dirname(path), 0o700);
    chmodSync(dirname(path), 0o700);
  }
  return SqliteFile.open(path, "cache");
}

type Doing = "open" | "read" | "write";

function cacheFault(cache: string, doing: Doing, cause: unknown): ReputeError {
  const path = pathIn(cache);
  const { kind, message } = explainFault(path, cause, `the cache ${cache}`, doing);
  const isRuined = kind === "damaged" || kind === "version";
  const hint = isRuined ? `delete the folder ${dirname(path)}` : null;
  return new FatalError(isRuined ? `cache_${kind}` : "cache_unusable", message, { cause, hint });
}

/**
 * Opens a cache of findings that outlives the run and can be shared by several processes. It
 * returns only fresh findings and never stores failures.
 *
 * The cache is optional: if it cannot be opened, read or written, the reason goes to `onWarning`
 * and the store then acts as an empty one. A damaged file is set aside. Nothing throws or rejects.
 */
export async function openCache(options: CacheOptions): Promise<FindingStore> {
  const cache = new FindingCache(options);
  await cache.prune();
  return cache;
}

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  /** Null if the cache cannot be used. */
  #table: AnswerTable | null = null;
  #isWritable: boolean;
  readonly #waiting = new Map<string, Finding>();
  readonly #batch = new Batch(() => this.#write());

  constructor(options: CacheOptions) {
    const { folder, readOnly = false } = options;
    this.#options = options;
    this.#isWritable = !readOnly;
    this.#attempt("open", () => {
      const file = openFile(folder, readOnly);
      this.#table = file && new AnswerTable(file);
    });
  }

  #attempt<T>(doing: Doing, work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#giveUp(doing, error);
      return null;
    }
  }

  get(key: string): Finding | null {
    const waiting = this.#waiting.get(key);
    if (waiting !== undefined) return waiting;
    return this.#attempt("read", () => {
      const stored = this.#stored(keyHash(key));
      if (stored === null || stored.key !== key) return null;
      const { ttlMs, clock } = this.#options;
      const isPartial = stored.finding.status === "partial";
      const lifetimeMs = isPartial ? ttlMs * partialLifetime : ttlMs;
      // A clock that is or was wrong can give a time in the future.
      const isFresh = Math.abs(clock.now() - stored.storedAt) < lifetimeMs;
      return isFresh ? storedRecord(stored, this.#options).finding : null;
    });
  }

  /**
   * The reads of one turn share a transaction: SQLite would lock the file for each on its own. Between
   * turns, the log of the file can start over.
   */
  #stored(link: number): StoredAnswer | null {
    if (this.#table === null) return null;
    const { file } = this.#table;
    if (!file.database.isTransaction) {
      file.database.exec("BEGIN");
      setImmediate(() => this.#attempt("read", () => this.#table?.file.endReads()));
    }
    return this.#table.byLink(link);
  }

  put(key: string, finding: Finding): void {
    const { status } = finding;
    const isKept = this.#table !== null && status !== "failed" && status !== "unsupported";
    if (!isKept || !this.#isWritable) return;
    this.#waiting.set(key, finding);
    this.#batch.added();
  }

  sync(): void {
    this.#batch.flush();
  }

  close(): void {
    this.sync();
    this.#release();
  }

  #write(): void {
    const table = this.#table;
    this.#attempt("write", () =>
      table?.file.transact(() => {
        for (const [key, finding] of this.#waiting) {
          table.add(key, keyHash(key), { finding, again: null, drift: [] });
        }
      }),
    );
    this.#waiting.clear();
  }

  /** Warns of a fault, and goes on without the cache. What cannot be written can still be read. */
  #giveUp(doing: Doing, error: unknown): void {
    const { folder, onWarning, readOnly = false } = this.#options;
    const { code, message, hint } = cacheFault(folder, doing, error);
    const isReadable = doing === "write" && hint === null;
    // Another run may have set it aside.
    const isInPlace = this.#table?.file.isInPlace ?? true;
    if (isReadable) this.#isWritable = false;
    else this.#release();
    const isSetAside = code === "cache_damaged" && !readOnly && isInPlace && setAside(folder);
    const remedy = isSetAside ? "set aside as answers.damaged" : hint;
    const end = isReadable ? "no more answers are cached" : "the run continues without the cache";
    onWarning([message, remedy, end].filter((part) => part !== null).join("; "));
  }

  /**
   * Checks the file and deletes expired answers, at most once a day. What the run with the longest TTL
   * since the last time would use stays. The file keeps its size; new answers reuse the space.
   */
  async prune(): Promise<void> {
    const file = this.#isWritable ? this.#table?.file : undefined;
    if (file === undefined) return;
    const { ttlMs, clock } = this.#options;
    const now = clock.now();
    try {
      const { prunedAt, longestTtl } = (file.read("upkeep") ?? never) as typeof never;
      const longest = Math.max(ttlMs, longestTtl);
      const isDue = Math.abs(now - prunedAt) >= dayMs;
      if (!isDue && longest === longestTtl) return;
      const next = isDue ? { prunedAt: now, longestTtl: ttlMs } : { prunedAt, longestTtl: longest };
      file.write({ upkeep: next });
      if (!isDue) return;
      file.check();
      const remove = file.database.prepare(removeOldest);
      while (remove.run(now, longest).changes > 0) await turn();
    } catch (error) {
      // Where another process holds the lock, pruning can wait for another day.
      if (explainFault(file.path, error).kind !== "busy") this.#giveUp("open", error);
    }
  }

  #release(): void {
    this.#table?.file.close();
    this.#table = null;
  }
}

/** Renames the folder of a damaged file, so that the next run begins a new one. Returns whether it could. */
function setAside(cache: string): boolean {
  const folder = dirname(pathIn(cache));
  try {
    rmSync(`${folder}.damaged`, { recursive: true, force: true });
    renameSync(folder, `${folder}.damaged`);
    return true;
  } catch {
    return false;
  }
}

const dayMs = 86_400_000;

/** The upkeep of a new cache. */
const never = { prunedAt: 0, longestTtl: 0 };

/** Answers are in the order in which they were stored. Other processes write between two batches. */
const removeOldest = `
  DELETE FROM answers WHERE n IN (SELECT n FROM answers ORDER BY n LIMIT 5000)
    AND abs(? - stored_at) >= ?`;
