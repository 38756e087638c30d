import type { StatementSyncInstance as StatementSync } from "@photostructure/sqlite";
import type { Clock } from "../../core/clock.js";
import { type Finding, lookupEndpoints } from "../../core/finding.js";
import { closeDatabase, type Database, patienceMs, transact } from "../sqlite.js";
import { isBusy, isDamage } from "../store-fault.js";
import type { FindingStore } from "../store.js";
import { WriteBatch } from "../write-batch.js";
import { answerKind, decodeEntry, encodeEntry, isFresh, readEntryHead } from "./cache-entry.js";
import { cacheFault, columns, hasSpace, openCacheFile } from "./cache-file.js";
import { keyHash } from "./cache-key.js";

export interface CacheOptions {
  /** Folder of the cache; made, readable by its owner alone, when it is absent. */
  readonly folder: string;
  /** How long a full answer is used, in milliseconds; other kinds in proportion. */
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  /** Told why the cache, or a part of it, is not used. */
  readonly onWarning: (message: string) => void;
  /** Whether findings come with the text of their results. @default false */
  readonly asReceived?: boolean | undefined;
  /** Nothing is made, kept or begun anew; what is not there is an empty cache. @default false */
  readonly readOnly?: boolean | undefined;
}

/**
 * Opens a cache of findings that outlives the run and serves several processes at once. It answers
 * only with what is fresh, and keeps no failures. Keys begin with an endpoint and a space.
 *
 * A cache is a convenience: where it cannot be opened, read or written the reason goes to
 * `onWarning`, and the store behaves as an empty one that forgets. Nothing throws or rejects.
 */
export async function openCache(options: CacheOptions): Promise<FindingStore> {
  try {
    return new FindingCache(await openCacheFile(options.folder, options), options);
  } catch (error) {
    warnUnused(options, "open", error);
    return new FindingCache(null, options);
  }
}

/** Rows that are written without waiting for more, how long they wait otherwise, in milliseconds. */
const gathering = { rows: 512, delayMs: 500, busyDelayMs: 50 };

/** An entry for each endpoint; null where there is none. */
type Row = readonly (string | null)[];

class FindingCache implements FindingStore {
  readonly #options: CacheOptions;
  /** Null when the cache cannot be used, or not any more. */
  #database: Database | null;
  readonly #select: StatementSync | undefined;
  readonly #upsert: StatementSync | undefined;
  #takesMore: boolean;
  #isDamageTold = false;
  /** The row that was read last in this turn of the event loop: endpoints are asked in a row. */
  #latest: { readonly key: string; readonly row: Row } | null = null;
  #isReading = false;
  #unwritten = new Map<string, (string | null)[]>();
  #batch = new WriteBatch();
  #timer: NodeJS.Timeout | null = null;
  /** Since when another process has been writing. */
  #busySince: number | null = null;

  constructor(database: Database | null, options: CacheOptions) {
    this.#database = database;
    this.#options = options;
    this.#takesMore = database !== null && options.readOnly !== true;
    this.#select = database?.prepare(`SELECT ${columns.join()} FROM answers WHERE hash = ?`);
    this.#select?.setReturnArrays(true);
    const updates = columns.map((column) => `${column} = coalesce(excluded.${column}, ${column})`);
    this.#upsert = database?.prepare(
      `INSERT INTO answers (hash, ${columns.join()}) VALUES (?${", ?".repeat(columns.length)})
       ON CONFLICT (hash) DO UPDATE SET ${updates.join()}`,
    );
  }

  get(key: string): Finding | null {
    const { row, column } = splitKey(key);
    try {
      const entry = this.#read(row)?.[column] ?? null;
      return entry === null ? null : this.#usable(key, entry);
    } catch (error) {
      this.#giveUp("read", error);
      return null;
    }
  }

  put(key: string, finding: Finding): Promise<void> {
    const kind = answerKind(finding);
    if (kind === null || !this.#takesMore) return Promise.resolve();
    const keptAt = this.#options.clock.now();
    const { row, column } = splitKey(key);
    const entries = this.#unwritten.get(row) ?? columns.map(() => null);
    entries[column] = encodeEntry(key, finding, { kind, keptAt });
    this.#unwritten.set(row, entries);
    const { done } = this.#batch;
    if (this.#unwritten.size >= gathering.rows && this.#busySince === null) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), gathering.delayMs);
    return done;
  }

  async sync(): Promise<void> {
    await this.#written();
    try {
      this.#endReading();
      if (this.#options.readOnly !== true) this.#database?.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch (error) {
      this.#giveUp("write", error);
    }
  }

  async close(): Promise<void> {
    await this.#written();
    this.#takesMore = false;
    this.#endReading();
    this.#release();
  }

  async #written(): Promise<void> {
    const { done } = this.#batch;
    if (this.#unwritten.size === 0) return;
    this.#write();
    await done;
  }

  /** What a row has. Reads of one turn share a transaction, which saves SQLite two locks for each. */
  #read(key: string): Row | null {
    if (this.#database === null) return null;
    if (this.#latest?.key === key) return this.#latest.row;
    if (!this.#isReading) {
      this.#database.exec("BEGIN");
      this.#isReading = true;
      setImmediate(() => this.#endReading());
    }
    const row = (this.#select?.get(keyHash(key)) ?? []) as unknown as Row;
    this.#latest = { key, row };
    return row;
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#latest = null;
    this.#database?.exec("COMMIT");
  }

  #usable(key: string, entry: string): Finding | null {
    const { clock, ttlMs, asReceived, folder, onWarning } = this.#options;
    const head = readEntryHead(entry);
    if (head === null) {
      if (!this.#isDamageTold) {
        onWarning(`entries of the cache ${folder} are damaged; what they held is asked for again`);
      }
      this.#isDamageTold = true;
      return null;
    }
    const now = clock.now();
    if (!isFresh(head, now, ttlMs)) return null;
    // From the future: from now on it ages, so that no clock makes it last longer than it may.
    const isEarly = head.keptAt > now;
    const { key: found, value: finding } = decodeEntry(entry, {
      asReceived: asReceived || isEarly,
    });
    if (found !== key) return null;
    if (isEarly) void this.put(key, finding);
    return finding;
  }

  #write(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const database = this.#database;
    if (database !== null && this.#takesMore) {
      try {
        this.#endReading();
        this.#writeRows(database);
        this.#busySince = null;
      } catch (error) {
        this.#busySince ??= performance.now();
        if (isBusy(error) && performance.now() - this.#busySince < patienceMs) {
          this.#timer = setTimeout(() => this.#write(), gathering.busyDelayMs);
          return;
        }
        if (isDamage(error)) this.#giveUp("write", error);
        else this.#stopWriting(cacheFault(this.#options.folder, "write", error).message);
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

  /** What can be read stays in use. */
  #stopWriting(reason: string): void {
    this.#takesMore = false;
    this.#options.onWarning(`${reason}; it takes no further answers`);
  }

  #giveUp(doing: "read" | "write", error: unknown): void {
    if (this.#database === null) return;
    warnUnused(this.#options, doing, error);
    this.#takesMore = false;
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

/** What a key's row is called, and which of the columns has its answer. */
function splitKey(key: string): { readonly row: string; readonly column: number } {
  const space = key.indexOf(" ");
  const endpoint = key.slice(0, space);
  const column = lookupEndpoints.findIndex((each) => each === endpoint);
  if (column < 0) throw new TypeError(`the key ${JSON.stringify(key)} names no endpoint`);
  return { row: key.slice(space + 1), column };
}

function warnUnused(
  { folder, onWarning }: CacheOptions,
  doing: "open" | "read" | "write",
  error: unknown,
): void {
  const { message, hint } = cacheFault(folder, doing, error);
  onWarning(`${hint === null ? message : `${message}; ${hint}`}; the run goes on without it`);
}
