import { chmodSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { FatalError, ReputeError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import type { Finding } from "../../core/finding.js";
import {
  answersSchema,
  AnswerTable,
  type ReadBackOptions,
  type StoredAnswer,
  storedRecord,
} from "./answer-table.js";
import { keyHash } from "./cache-key.js";
import {
  closeDatabase,
  corrupt,
  type Database,
  factsSchema,
  isBusy,
  isCorrupt,
  lockTimeoutMs,
  openStore,
  readFact,
  storeFault,
  structuralDamage,
  transact,
  writeFact,
} from "./database.js";
import type { FindingStore } from "./store.js";

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

/** The newest answer to a key takes the place of the others. */
const layout = {
  version: 6,
  schema: `${answersSchema} ${factsSchema} CREATE UNIQUE INDEX answers_by_hash ON answers (hash);`,
};

/** The cache's files have a folder of their own, which can be deleted at any time. */
function folderIn(cache: string): string {
  return join(cache, "answers");
}

function pathIn(cache: string): string {
  return join(folderIn(cache), "answers.db");
}

/**
 * Opens a cache as a run does, but creates none.
 *
 * @returns its size in bytes; null if there is none
 * @throws FatalError `cache_format`, `cache_damaged`, `cache_unusable`
 */
export async function cacheSize(cache: string): Promise<number | null> {
  const database = await openFile(cache, true).catch((error: unknown) => {
    throw cacheFault(cache, "open", error);
  });
  if (database === null) return null;
  database.close();
  return ["", "-wal"]
    .map((suffix) => statSync(pathIn(cache) + suffix, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size);
}

/**
 * Opens the file of a cache, creating it if missing.
 * @returns null only with `readOnly`, if there is none
 * @throws FatalError `cache_format` if another version of repute wrote it, or the SQLite or system error
 */
async function openFile(cache: string, readOnly: boolean): Promise<Database | null> {
  const [folder, path] = [folderIn(cache), pathIn(cache)];
  if (!existsSync(path)) {
    if (readOnly) return null;
    makeFolder(folder, 0o700);
    chmodSync(folder, 0o700);
  }
  const database = await openStore(path, layout);
  if (database !== null) return database;
  throw new FatalError("cache_format", `another version of repute wrote the cache ${cache}`, {
    hint: `delete the folder ${folder}`,
  });
}

function cacheFault(cache: string, doing: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  if (isCorrupt(pathIn(cache), error)) {
    return new FatalError("cache_damaged", `the cache ${cache} is damaged: ${storeFault(error)}`, {
      cause: error,
      hint: `delete the folder ${folderIn(cache)}`,
    });
  }
  const message = `cannot ${doing} the cache ${cache}: ${storeFault(error)}`;
  return new FatalError("cache_unusable", message, { cause: error });
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
  await cache.open();
  return cache;
}

/**
 * Answers that trigger a write, and the longest delay before one, in milliseconds; answers above which
 * no more are kept while another process holds the lock.
 */
const batching = { answers: 256, delayMs: 50, most: 16_384 };

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  /** Null if the cache cannot be used. */
  #file: { readonly database: Database; readonly table: AnswerTable } | null = null;
  #inode: number | undefined;
  #isWritable = false;
  #hasWarned = false;
  #isSetAside = false;
  readonly #unwritten = new Map<string, { readonly finding: Finding; readonly at: number }>();
  #timer: NodeJS.Timeout | null = null;
  /** Start of the current wait for another process's lock, in `performance.now()` time. */
  #busySince: number | null = null;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    const { folder, readOnly = false } = this.#options;
    try {
      this.#inode = inodeOf(folder);
      const database = await openFile(folder, readOnly);
      if (database === null) return;
      this.#inode = inodeOf(folder);
      this.#file = { database, table: new AnswerTable(database) };
      this.#isWritable = !readOnly;
      if (!readOnly) await this.#prune(database);
    } catch (error) {
      if (this.#giveUp("open", error)) await this.open();
    }
  }

  get(key: string): Finding | null {
    const found = this.#unwritten.get(key);
    if (found !== undefined) return found.finding;
    try {
      const stored = this.#stored(keyHash(key));
      if (stored === null || stored.key !== key) return null;
      const { ttlMs, clock } = this.#options;
      const lifetimeMs = ttlMs * (stored.status === "partial" ? partialLifetime : 1);
      // A clock that is or was wrong can give a time in the future.
      const isFresh = Math.abs(clock.now() - stored.storedAt) < lifetimeMs;
      return isFresh ? storedRecord(stored, this.#options).finding : null;
    } catch (error) {
      this.#giveUp("read", error);
      return null;
    }
  }

  put(key: string, finding: Finding): void {
    const { status } = finding;
    if (!this.#isWritable || status === "failed" || status === "unsupported") return;
    if (this.#unwritten.size >= batching.most) return;
    this.#unwritten.set(key, { finding, at: Math.floor(this.#options.clock.now()) });
    if (this.#unwritten.size >= batching.answers && this.#busySince === null) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), batching.delayMs);
  }

  async sync(): Promise<void> {
    while (this.#unwritten.size > 0) {
      this.#write();
      if (this.#unwritten.size > 0) await delay(batching.delayMs);
    }
  }

  async close(): Promise<void> {
    await this.sync();
    this.#release();
  }

  /** Reads of one turn share a transaction, which saves two locks each. */
  #stored(hash: number): StoredAnswer | null {
    if (this.#file === null) return null;
    const { database, table } = this.#file;
    if (!database.isTransaction) {
      database.exec("BEGIN");
      setImmediate(() => this.#endReading());
    }
    return table.byHash(hash);
  }

  #endReading(): void {
    try {
      if (this.#file?.database.isTransaction === true) this.#file.database.exec("COMMIT");
    } catch (error) {
      this.#giveUp("read", error);
    }
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#endReading();
    try {
      this.#store();
    } catch (error) {
      this.#busySince ??= performance.now();
      const isPatient = performance.now() - this.#busySince < lockTimeoutMs;
      if ((isBusy(error) && isPatient) || this.#giveUp("write", error)) {
        this.#timer = setTimeout(() => this.#write(), batching.delayMs);
        return;
      }
    }
    this.#busySince = null;
    this.#unwritten.clear();
  }

  #store(): void {
    const file = this.#file;
    if (file === null || !this.#isWritable) return;
    transact(file.database, () => {
      for (const [key, { finding, at }] of this.#unwritten) {
        const place = { hash: keyHash(key), previous: 0, storedAt: at };
        file.table.add(key, { finding, again: null, drift: [] }, place);
      }
    });
  }

  /**
   * Warns of a fault, and goes on without the cache or with a new one. What cannot be written can still be
   * read.
   *
   * @returns whether a damaged file was set aside, so that a new one can take the answers
   */
  #giveUp(doing: "open" | "read" | "write", error: unknown): boolean {
    const { folder, onWarning, readOnly = false } = this.#options;
    const { code, message, hint } = cacheFault(folder, doing, error);
    const isDamaged = code === "cache_damaged";
    const isReadable = doing === "write" && !isDamaged;
    if (isReadable) this.#isWritable = false;
    else this.#release();
    if (this.#hasWarned) return false;
    const aside = isDamaged && !readOnly && !this.#isSetAside && setAside(folder, this.#inode);
    if (typeof aside === "string") {
      this.#isSetAside = true;
      onWarning(`${message}; it is set aside as ${aside}, and a new one takes its place`);
      if (doing !== "open") void this.open();
      return true;
    }
    this.#hasWarned = true;
    const remedy = hint === null ? "" : `; ${hint}`;
    const end = isReadable ? "no more answers are cached" : "the run continues without the cache";
    onWarning(`${message}${remedy}; ${end}`);
    return false;
  }

  /**
   * Checks the file and deletes expired answers, at most once a day. What the run with the longest TTL
   * since the last time would use stays. The file keeps its size; new answers reuse the space.
   */
  async #prune(database: Database): Promise<void> {
    const { ttlMs, clock } = this.#options;
    const now = clock.now();
    try {
      const { prunedAt, longestTtl } = (readFact(database, "upkeep") ?? never) as typeof never;
      const longest = Math.max(ttlMs, longestTtl);
      const isDue = Math.abs(now - prunedAt) >= dayMs;
      if (!isDue && longest === longestTtl) return;
      const next = isDue ? { prunedAt: now, longestTtl: ttlMs } : { prunedAt, longestTtl: longest };
      writeFact(database, "upkeep", next);
      if (!isDue) return;
      const damage = structuralDamage(database);
      if (damage !== null) throw corrupt(damage);
      const { first, last } = database.prepare(range).get() as Record<"first" | "last", number>;
      const remove = database.prepare(removeStale);
      for (let n = first; n <= last; n += batchRows) {
        remove.run(n, n + batchRows - 1, now, longest * partialLifetime, longest);
        await turn();
      }
    } catch (error) {
      // Another process holds the lock; pruning can wait for another day.
      if (!isBusy(error)) throw error;
    }
  }

  #release(): void {
    if (this.#file !== null) closeDatabase(this.#file.database);
    this.#file = null;
    this.#isWritable = false;
  }
}

/** Tells one file from another that took its place. */
function inodeOf(cache: string): number | undefined {
  return statSync(pathIn(cache), { throwIfNoEntry: false })?.ino;
}

/**
 * Renames the folder of a damaged file, so that a new one can take its place, unless another process has
 * done so already.
 *
 * @returns the new name; null if that fails
 */
function setAside(cache: string, inode: number | undefined): string | null {
  const folder = folderIn(cache);
  const aside = `${folder}.damaged`;
  try {
    if (inodeOf(cache) === inode) {
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

const range = "SELECT coalesce(min(n), 0) first, coalesce(max(n), -1) last FROM answers";

/** The status is the second member of a head. */
const removeStale = `
  DELETE FROM answers WHERE n BETWEEN ? AND ?
    AND abs(? - stored_at) >= CASE head ->> 1 WHEN 'partial' THEN ? ELSE ? END`;
