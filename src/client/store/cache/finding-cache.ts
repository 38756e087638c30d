import type { StatementSyncInstance as StatementSync } from "@photostructure/sqlite";
import type { Clock } from "../../../core/clock.js";
import type { Finding } from "../../../core/finding.js";
import { closeDatabase, type Database, lockTimeoutMs, transact } from "../sqlite.js";
import { isBusy } from "../store-fault.js";
import type { FindingStore } from "../store.js";
import { WriteBatch } from "../write-batch.js";
import { answerKind, encodeEntry, EntryReader } from "./cache-entry.js";
import {
  cacheFault,
  hasSpace,
  openCacheFile,
  slotNames,
  warnDisabled,
  pruneCache,
} from "./cache-file.js";
import { keyHash, splitKey } from "../cache-key.js";

interface CacheOptions {
  /** Folder of the cache. Created with owner-only permissions if missing. */
  readonly folder: string;
  /** Lifetime of full answers in milliseconds; other kinds expire in proportion. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  /** Called when the cache, or part of it, cannot be used. */
  readonly onWarning: (message: string) => void;
  /** Return findings with the text of their results. @default false */
  readonly asReceived?: boolean | undefined;
  /** Never create, write or replace files; a missing cache reads as empty. @default false */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens a cache of findings that outlives the run and can be shared by several processes. It
 * returns only fresh findings and never stores failures. Keys start with an endpoint and a space.
 *
 * The cache is optional: if it cannot be opened, read or written, the reason goes to `onWarning`
 * and the store then acts as an empty one. Nothing throws or rejects.
 */
export async function openCache(options: CacheOptions): Promise<FindingStore> {
  try {
    const database = await openCacheFile(options.folder, options);
    if (database !== null && options.readOnly !== true && hasSpace(options.folder, 0)) {
      await pruneCache(database, options.ttlMs, options.clock.now());
    }
    return new FindingCache(database, options);
  } catch (error) {
    warnDisabled(options, "open", error);
    return new FindingCache(null, options);
  }
}

/** Rows that trigger a write, and the longest delay before one, in milliseconds. */
const batching = { rows: 512, delayMs: 500, busyDelayMs: 50 };

/** One entry per endpoint; null if absent. */
type CacheRow = readonly (string | null)[];

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  readonly #reader: EntryReader;
  /** Null if the cache cannot be used. */
  #database: Database | null;
  readonly #select: StatementSync | undefined;
  readonly #upsert: StatementSync | undefined;
  #isWritable: boolean;
  /** The row last read in this event loop turn: one item's endpoints are read one after another. */
  #latest: { readonly key: string; readonly row: CacheRow } | null = null;
  #isReading = false;
  #unwritten = new Map<string, (string | null)[]>();
  #batch = new WriteBatch();
  #timer: NodeJS.Timeout | null = null;
  /** Start of the current wait for another process's lock, in `performance.now()` time. */
  #busySince: number | null = null;

  constructor(database: Database | null, options: CacheOptions) {
    this.#database = database;
    this.#options = options;
    this.#reader = new EntryReader(options.folder, options);
    this.#isWritable = database !== null && options.readOnly !== true;
    this.#select = database?.prepare(`SELECT ${slotNames.join()} FROM answers WHERE hash = ?`);
    this.#select?.setReturnArrays(true);
    const updates = slotNames.map((name) => `${name} = coalesce(excluded.${name}, ${name})`);
    this.#upsert = database?.prepare(
      `INSERT INTO answers (hash, ${slotNames.join()}) VALUES (?${", ?".repeat(slotNames.length)})
       ON CONFLICT (hash) DO UPDATE SET ${updates.join()}`,
    );
  }

  get(key: string): Finding | null {
    const { row, column } = splitKey(key);
    try {
      const entry = this.#read(row)?.[column] ?? null;
      return entry === null ? null : this.#reader.fresh(key, entry);
    } catch (error) {
      this.#disable("read", error);
      return null;
    }
  }

  put(key: string, finding: Finding): Promise<void> {
    const kind = answerKind(finding);
    if (kind === null || !this.#isWritable) return Promise.resolve();
    const storedAt = this.#options.clock.now();
    const { row, column } = splitKey(key);
    const entries = this.#unwritten.get(row) ?? slotNames.map(() => null);
    entries[column] = encodeEntry(key, finding, { kind, storedAt });
    this.#unwritten.set(row, entries);
    const { done } = this.#batch;
    if (this.#unwritten.size >= batching.rows && this.#busySince === null) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), batching.delayMs);
    return done;
  }

  async sync(): Promise<void> {
    await this.#flush();
    try {
      this.#endReading();
      if (this.#options.readOnly !== true) this.#database?.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      this.#disable("write", error);
    }
  }

  async close(): Promise<void> {
    await this.#flush();
    this.#isWritable = false;
    this.#endReading();
    this.#release();
  }

  async #flush(): Promise<void> {
    const { done } = this.#batch;
    if (this.#unwritten.size === 0) return;
    this.#write();
    await done;
  }

  /** Reads a row. Reads of one turn share a transaction, which saves two locks each. */
  #read(key: string): CacheRow | null {
    if (this.#database === null) return null;
    if (this.#latest?.key === key) return this.#latest.row;
    if (!this.#isReading) {
      this.#database.exec("BEGIN");
      this.#isReading = true;
      setImmediate(() => this.#endReading());
    }
    const row = (this.#select?.get(keyHash(key)) ?? []) as unknown as CacheRow;
    this.#latest = { key, row };
    return row;
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#latest = null;
    this.#database?.exec("COMMIT");
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const database = this.#database;
    if (database !== null && this.#isWritable) {
      try {
        this.#endReading();
        this.#writeRows(database);
        this.#busySince = null;
      } catch (error) {
        this.#busySince ??= performance.now();
        if (isBusy(error) && performance.now() - this.#busySince < lockTimeoutMs) {
          this.#timer = setTimeout(() => this.#write(), batching.busyDelayMs);
          return;
        }
        const { code, message } = cacheFault(this.#options.folder, "write", error);
        if (code === "cache_damaged") this.#disable("write", error);
        else this.#stopWriting(message);
      }
    }
    this.#unwritten.clear();
    const batch = this.#batch;
    this.#batch = new WriteBatch();
    batch.resolve();
  }

  #writeRows(database: Database): void {
    const entries = [...this.#unwritten.values()].flat();
    const bytes = entries.reduce((sum, entry) => sum + (entry?.length ?? 0), 0);
    const { folder } = this.#options;
    if (!hasSpace(folder, 2 * bytes)) {
      this.#stopWriting(`the disk of the cache ${folder} is nearly full`);
      return;
    }
    transact(database, () => {
      for (const [key, row] of this.#unwritten) this.#upsert?.run(keyHash(key), ...row);
    });
  }

  /** Existing entries stay readable. */
  #stopWriting(reason: string): void {
    this.#isWritable = false;
    this.#options.onWarning(`${reason}; no more answers are cached`);
  }

  #disable(doing: "read" | "write", error: unknown): void {
    if (this.#database === null) return;
    warnDisabled(this.#options, doing, error);
    this.#isWritable = false;
    this.#release();
  }

  #release(): void {
    const database = this.#database;
    this.#database = null;
    this.#isReading = false;
    this.#latest = null;
    if (database !== null) closeDatabase(database);
  }
}
