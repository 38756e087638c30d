import { chmodSync, existsSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { FatalError, ReputeError } from "../../core/errors.js";
import { makeFolder } from "../../core/files/folders.js";
import type { Finding } from "../../core/finding.js";
import {
  type AnswerKind,
  answerKinds,
  answersSchema,
  AnswerTable,
  type ReadBackOptions,
  storedRecord,
} from "./answer-table.js";
import { keyHash } from "./cache-key.js";
import {
  closeDatabase,
  corrupt,
  type Database,
  isBusy,
  isCorrupt,
  lockTimeoutMs,
  openStore,
  storeFault,
  structuralDamage,
  transact,
} from "./database.js";
import type { FindingStore } from "./store.js";

interface CacheOptions extends ReadBackOptions {
  /** Folder of the cache. Created with owner-only permissions if missing. */
  readonly folder: string;
  /** Lifetime of full answers in milliseconds; other kinds expire in proportion. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  /** Called when the cache, or part of it, cannot be used. */
  readonly onWarning: (message: string) => void;
  /** Never create, write or replace files; a missing cache reads as empty. @default false */
  readonly readOnly?: boolean | undefined;
}

/** Lifetime of each kind, as a multiple of the TTL. */
const lifetimes: Readonly<Record<AnswerKind, number>> = {
  full: 1,
  // Missing data is usually back soon.
  partial: 1 / 24,
  invalid: 1,
  // Reserved ranges change once in years.
  bogon: 30,
  failed: 0,
};

/** The newest answer to a key takes the place of the others. */
const layout = {
  version: 3,
  schema: `${answersSchema}
    CREATE UNIQUE INDEX answers_by_hash ON answers (hash);
    CREATE TABLE upkeep (pruned_at INTEGER NOT NULL, longest_ttl INTEGER NOT NULL) STRICT;
    INSERT INTO upkeep VALUES (0, 0);`,
};

/** The cache's files have a folder of their own, which can be deleted at any time. */
function folderIn(cache: string): string {
  return join(cache, "answers");
}

function pathIn(cache: string): string {
  return join(folderIn(cache), "answers.db");
}

export function cacheBytes(cache: string): number {
  return ["", "-wal"]
    .map((suffix) => statSync(pathIn(cache) + suffix, { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size);
}

/**
 * Opens the file of a cache, creating it if missing.
 * @returns null only with `readOnly`, if there is none
 * @throws FatalError `cache_format` if another version of repute wrote it, or the SQLite or system error
 */
export async function openCacheFile(cache: string, readOnly = false): Promise<Database | null> {
  const [folder, path] = [folderIn(cache), pathIn(cache)];
  if (!existsSync(path)) {
    if (readOnly) return null;
    makeFolder(folder, 0o700);
    chmodSync(folder, 0o700);
    if (!hasSpace(cache, 0)) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
  }
  const database = await openStore(path, layout);
  if (database !== null) return database;
  throw new FatalError("cache_format", `another version of repute wrote the cache ${cache}`, {
    hint: `delete the folder ${folder}`,
  });
}

/** Whether the disk has room for this many bytes plus a reserve. */
function hasSpace(cache: string, bytes: number): boolean {
  const { bavail, bsize } = statfsSync(folderIn(cache));
  return bavail * bsize >= reserve + bytes;
}

/** Disk space always left free, in bytes. */
const reserve = 8 * 1024 * 1024;

export function cacheFault(cache: string, doing: string, error: unknown): ReputeError {
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
  #isWritable = false;
  #isReading = false;
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
      const database = await openCacheFile(folder, readOnly);
      if (database === null) return;
      this.#file = { database, table: new AnswerTable(database) };
      this.#isWritable = !readOnly;
      if (!readOnly && hasSpace(folder, 0)) await this.#prune(database);
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
      // A clock that is or was wrong can give a time in the future.
      const isFresh = Math.abs(clock.now() - stored.storedAt) < ttlMs * lifetimes[stored.kind];
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
  #stored(hash: number): ReturnType<AnswerTable["byHash"]> {
    if (this.#file === null) return null;
    if (!this.#isReading) {
      this.#file.database.exec("BEGIN");
      this.#isReading = true;
      setImmediate(() => this.#endReading());
    }
    return this.#file.table.byHash(hash);
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    try {
      this.#file?.database.exec("COMMIT");
    } catch (error) {
      this.#giveUp("read", error);
    }
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    try {
      this.#endReading();
      this.#store();
      this.#busySince = null;
    } catch (error) {
      this.#busySince ??= performance.now();
      const isPatient = performance.now() - this.#busySince < lockTimeoutMs;
      if ((isBusy(error) && isPatient) || this.#giveUp("write", error)) {
        this.#timer = setTimeout(() => this.#write(), batching.delayMs);
        return;
      }
    }
    this.#unwritten.clear();
  }

  #store(): void {
    const file = this.#file;
    if (file === null || !this.#isWritable) return;
    const { folder } = this.#options;
    if (!hasSpace(folder, this.#unwritten.size * answerBytes)) {
      return this.#stopWriting(`the disk of the cache ${folder} is nearly full`);
    }
    transact(file.database, () => {
      for (const [key, { finding, at }] of this.#unwritten) {
        const place = { hash: keyHash(key), previous: 0, storedAt: at };
        file.table.add(key, { finding, again: null, drift: [] }, place);
      }
    });
  }

  /** Existing answers stay readable. */
  #stopWriting(reason: string): void {
    this.#isWritable = false;
    this.#options.onWarning(`${reason}; no more answers are cached`);
  }

  /**
   * Warns of a fault, and goes on without the cache or with a new one.
   *
   * @returns whether a damaged file was set aside, so that a new one can take the answers
   */
  #giveUp(doing: string, error: unknown): boolean {
    const { folder, onWarning, readOnly = false } = this.#options;
    const { code, message, hint } = cacheFault(folder, doing, error);
    const isDamaged = code === "cache_damaged";
    if (doing === "write" && !isDamaged) {
      if (this.#isWritable) this.#stopWriting(message);
      return false;
    }
    if (this.#hasWarned) return false;
    this.#release();
    const aside = isDamaged && !readOnly && !this.#isSetAside ? setAside(folder) : null;
    if (aside === null) {
      this.#hasWarned = true;
      const remedy = hint === null ? "" : `; ${hint}`;
      onWarning(`${message}${remedy}; the run continues without the cache`);
      return false;
    }
    this.#isSetAside = true;
    onWarning(`${message}; it is set aside as ${aside}, and a new one takes its place`);
    if (doing !== "open") void this.open();
    return true;
  }

  /**
   * Checks the file and deletes expired answers, at most once a day. What the run with the longest TTL
   * since the last time would use stays. The file keeps its size; new answers reuse the space.
   */
  async #prune(database: Database): Promise<void> {
    const { ttlMs, clock } = this.#options;
    const now = clock.now();
    try {
      const { pruned_at, longest_ttl } = database
        .prepare("SELECT pruned_at, longest_ttl FROM upkeep")
        .get() as Record<"pruned_at" | "longest_ttl", number>;
      const longest = Math.max(ttlMs, longest_ttl);
      const isDue = Math.abs(now - pruned_at) >= dayMs;
      if (!isDue && longest === longest_ttl) return;
      const next = isDue ? [now, ttlMs] : [pruned_at, longest];
      database.prepare("UPDATE upkeep SET pruned_at = ?, longest_ttl = ?").run(...next);
      if (!isDue) return;
      const damage = structuralDamage(database);
      if (damage !== null) throw corrupt(damage);
      const { first, last } = database.prepare(range).get() as Record<"first" | "last", number>;
      const stale = `DELETE FROM answers WHERE n BETWEEN ? AND ? AND NOT (${fresh(longest, now)})`;
      const remove = database.prepare(stale);
      for (let n = first; n <= last; n += batchRows) {
        transact(database, () => remove.run(n, n + batchRows - 1));
        await turn();
      }
    } catch (error) {
      // Another process holds the lock; pruning can wait for another day.
      if (!isBusy(error)) throw error;
    }
  }

  #release(): void {
    const { database } = this.#file ?? {};
    this.#file = null;
    this.#isWritable = false;
    this.#isReading = false;
    if (database !== undefined) closeDatabase(database);
  }
}

/** Size of an answer, roughly: space for it must be there twice, in the log and in the file. */
const answerBytes = 4_096;

/**
 * Renames a damaged file, so that a new one can take its place.
 *
 * @returns the new name; null if that fails
 */
function setAside(cache: string): string | null {
  const path = pathIn(cache);
  const aside = `${path}.damaged`;
  try {
    // Another process may have set it aside already.
    if (existsSync(path)) renameSync(path, aside);
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    return aside;
  } catch {
    return null;
  }
}

const dayMs = 86_400_000;

/** Rows per transaction; other processes write in between. */
const batchRows = 5_000;

const range = "SELECT coalesce(min(n), 0) first, coalesce(max(n), -1) last FROM answers";

/** Whether a row has an answer that a run would use. */
function fresh(ttlMs: number, now: number): string {
  const of = (kind: AnswerKind, index: number): string =>
    `kind = ${index} AND abs(${now} - stored_at) < ${ttlMs * lifetimes[kind]}`;
  return answerKinds.map((kind, index) => `(${of(kind, index)})`).join(" OR ");
}
