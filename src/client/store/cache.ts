import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { FatalError, type ReputeError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import type { Finding } from "../../core/finding.js";
import { AnswerTable, type ReadBackOptions, storedRecord } from "./answer-table.js";
import { keyHash } from "./cache-key.js";
import { explainFault, inodeOf, SqliteFile } from "./sqlite-file.js";
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
function placeIn(cache: string) {
  const folder = join(cache, "answers");
  return { folder, path: join(folder, "answers.db") };
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
  const { folder, path } = placeIn(cache);
  if (!existsSync(path)) {
    if (readOnly) return null;
    makeFolder(folder, 0o700);
    chmodSync(folder, 0o700);
  }
  return SqliteFile.open(path, "cache");
}

function cacheFault(cache: string, doing: string, cause: unknown): ReputeError {
  const { folder, path } = placeIn(cache);
  const { kind, message } = explainFault(path, cause, `the cache ${cache}`, doing);
  const isRuined = kind === "damaged" || kind === "version";
  const hint = isRuined ? `delete the folder ${folder}` : null;
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

type Doing = "open" | "read" | "write";

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  /** Null if the cache cannot be used. */
  #table: AnswerTable | null = null;
  /** Tells the file from another one that takes its place. */
  #inode: number | undefined;
  #isWritable = false;
  #hasWarned = false;
  #isSetAside = false;
  readonly #batch = new Batch<Finding>((answers) => this.#write(answers));

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#open();
  }

  #open(): void {
    const { folder, readOnly = false } = this.#options;
    this.#attempt("open", () => {
      const { path } = placeIn(folder);
      this.#inode = inodeOf(path);
      const file = openFile(folder, readOnly);
      if (file === null) return;
      this.#inode = inodeOf(path);
      this.#table = new AnswerTable(file);
      this.#isWritable = !readOnly;
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
    const waiting = this.#batch.waiting.get(key);
    if (waiting !== undefined) return waiting;
    return this.#attempt("read", () => {
      this.#beginReading();
      const stored = this.#table?.byHash(keyHash(key)) ?? null;
      if (stored === null || stored.key !== key) return null;
      const { ttlMs, clock } = this.#options;
      const isPartial = stored.finding.status === "partial";
      const lifetimeMs = isPartial ? ttlMs * partialLifetime : ttlMs;
      // A clock that is or was wrong can give a time in the future.
      const isFresh = Math.abs(clock.now() - stored.storedAt) < lifetimeMs;
      return isFresh ? storedRecord(stored, this.#options).finding : null;
    });
  }

  put(key: string, finding: Finding): void {
    const { status } = finding;
    if (!this.#isWritable || status === "failed" || status === "unsupported") return;
    this.#batch.put(key, finding);
  }

  sync(): void {
    this.#batch.flush();
  }

  close(): void {
    this.sync();
    this.#release();
  }

  /** Reads of one turn share a transaction, which saves two locks each. */
  #beginReading(): void {
    const { database } = this.#table?.file ?? {};
    if (database === undefined || database.isTransaction) return;
    database.exec("BEGIN");
    setImmediate(() => this.#endReading());
  }

  #endReading(): void {
    this.#attempt("read", () => {
      const { database } = this.#table?.file ?? {};
      if (database?.isTransaction === true) database.exec("COMMIT");
    });
  }

  #write(answers: ReadonlyMap<string, Finding>): void {
    this.#endReading();
    const table = this.#isWritable ? this.#table : null;
    this.#attempt("write", () =>
      table?.file.transact(() => {
        for (const [key, finding] of answers) {
          table.add(key, keyHash(key), { finding, again: null, drift: [] });
        }
      }),
    );
    // A new file takes the place of a damaged one.
    if (this.#isWritable && this.#table !== table) this.#write(answers);
  }

  /**
   * Warns of a fault, and goes on without the cache or, in place of a damaged one, with a new one. What
   * cannot be written can still be read.
   */
  #giveUp(doing: Doing, error: unknown): void {
    const { folder, onWarning, readOnly = false } = this.#options;
    const { code, message, hint } = cacheFault(folder, doing, error);
    const isDamaged = code === "cache_damaged";
    const isReadable = doing === "write" && !isDamaged;
    if (isReadable) this.#isWritable = false;
    else this.#release();
    if (this.#hasWarned) return;
    const aside = isDamaged && !readOnly && !this.#isSetAside && setAside(folder, this.#inode);
    if (typeof aside === "string") {
      this.#isSetAside = true;
      onWarning(`${message}; it is set aside as ${aside}, and a new one takes its place`);
      return this.#open();
    }
    this.#hasWarned = true;
    const remedy = hint === null ? "" : `; ${hint}`;
    const end = isReadable ? "no more answers are cached" : "the run continues without the cache";
    onWarning(`${message}${remedy}; ${end}`);
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
      const remove = file.database.prepare(removeStale);
      const last = Number(file.value("SELECT coalesce(max(n), 0) FROM answers"));
      const first = Number(file.value("SELECT coalesce(min(n), 1) FROM answers"));
      for (let n = first; n <= last; n += batchRows) {
        remove.run(n, n + batchRows - 1, now, longest * partialLifetime, longest);
        await turn();
      }
    } catch (error) {
      // Where another process holds the lock, pruning can wait for another day.
      if (explainFault(file.path, error).kind !== "busy") this.#giveUp("open", error);
    }
  }

  #release(): void {
    this.#table?.file.close();
    this.#table = null;
    this.#isWritable = false;
  }
}

/**
 * Renames the folder of a damaged file, so that a new one can take its place, unless another process has
 * done so already.
 *
 * @returns the new name; null if that fails
 */
function setAside(cache: string, inode: number | undefined): string | null {
  const { folder, path } = placeIn(cache);
  const aside = `${folder}.damaged`;
  try {
    if (inodeOf(path) === inode) {
      rmSync(aside, { recursive: true, force: true });
      renameSync(folder, aside);
    }
    return aside;
  } catch {
    return null;
  }
}

const dayMs = 86_400_000;

/** The upkeep of a new cache. */
const never = { prunedAt: 0, longestTtl: 0 };

/** Rows per transaction; other processes write in between. */
const batchRows = 5_000;

const removeStale = `
  DELETE FROM answers WHERE n BETWEEN ? AND ?
    AND abs(? - stored_at) >= CASE head ->> '$[1][0]' WHEN 'partial' THEN ? ELSE ? END`;
