import { type FileHandle, open } from "node:fs/promises";
import { FatalError, type ReputeError } from "../../core/errors.js";
import type { LookupRecord } from "../../core/finding.js";
import {
  AnswerTable,
  type ReadBackOptions,
  storedRecord,
  type StoredAnswer,
} from "./answer-table.js";
import { keyHash } from "./cache-key.js";
import { corrupt, type Database } from "./database.js";
import { type LookupStore, MemoryStore } from "./store.js";

export interface JournalOptions extends ReadBackOptions {
  /** Path of the database. */
  readonly path: string;
  /** Explains an error of SQLite or the system. */
  readonly fault: (error: unknown) => ReputeError;
  /** Which answers of an earlier run are used. No row of this run asked for them. @default none */
  readonly taken?: Taken | undefined;
  /** Chains of the index in memory, a power of two. @default 2^22 */
  readonly chains?: number;
}

/** Answers of an earlier run. */
export interface Taken {
  /** Number of the latest one. */
  readonly last: number;
  /** Whether an answer is used. */
  readonly isUsed: (stored: StoredAnswer) => boolean;
}

/** Answers that are stored together, and how long they wait for each other, in milliseconds. */
const batch = { answers: 256, ms: 20 };

/**
 * The answers of one run, whatever their age. A transaction is open for 256 answers or 20 ms at most,
 * so a killed process loses no more of them.
 */
export class Journal implements LookupStore {
  readonly #database: Database;
  readonly #table: AnswerTable;
  readonly #options: JournalOptions;
  /**
   * Number of the newest answer of each chain, by the hash of its key: most items are new, and asking
   * SQLite for each would cost more than storing it. An index of SQLite would double what is written. Takes
   * no more memory than is used, at most 16 MiB.
   */
  readonly #newest: Uint32Array;
  #last = 0;
  /** Records that were read again: items that repeat often in an input. */
  readonly #repeated = new MemoryStore({ most: 1024 });
  /** When the open transaction began, in milliseconds. */
  #begun = 0;
  /** Answers in the open transaction. */
  #open = 0;
  #timer: NodeJS.Timeout | null = null;
  #log: FileHandle | null = null;
  #syncing: Promise<void> = Promise.resolve();
  #fault: ReputeError | null = null;
  #isClosed = false;

  constructor(database: Database, options: JournalOptions) {
    this.#database = database;
    this.#table = new AnswerTable(database);
    this.#options = options;
    this.#newest = new Uint32Array(options.chains ?? 2 ** 22);
  }

  /** Number of the latest answer; 0 for none. */
  get last(): number {
    return this.#last;
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  /**
   * Reads the answers that are there, in order, and checks each. Call this first.
   * @param last number of the latest
   * @throws FatalError for damage
   */
  *replay(last: number): Generator<StoredAnswer> {
    try {
      for (let from = 1; from <= last; from += rowsAtOnce) {
        const to = Math.min(last, from + rowsAtOnce - 1);
        for (const answer of this.#table.between(from, to)) {
          if (answer.n === this.last + 1) this.#add(keyHash(answer.key), answer.n);
          yield answer;
        }
        if (this.last !== to) throw corrupt(`answer ${this.last + 1} is missing`);
      }
    } catch (error) {
      throw this.#fail(error);
    }
  }

  get(key: string): LookupRecord | null | Promise<LookupRecord | null> {
    const hash = keyHash(key);
    if (this.#newestOf(hash) === 0) return null;
    const known = this.#repeated.get(key);
    if (known !== null) return known;
    if (this.#fault !== null) return Promise.reject(this.#fault);
    try {
      const stored = this.#find(key, hash);
      if (stored === null) return null;
      const { taken } = this.#options;
      if (taken === undefined || stored.n > taken.last) {
        return this.#remember(key, storedRecord(stored, this.#options));
      }
      if (!taken.isUsed(stored)) return null;
      return this.#remember(key, { ...storedRecord(stored, this.#options), origin: undefined });
    } catch (error) {
      return Promise.reject(this.#fail(error));
    }
  }

  put(key: string, record: LookupRecord): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    try {
      this.#begin();
      const hash = keyHash(key);
      const previous = this.#newestOf(hash);
      if (this.#repeated.get(key) !== null) void this.#repeated.put(key, record);
      const storedAt = Date.parse(record.finding.lookedUpAt ?? "") || 0;
      this.#add(hash, this.#table.add(key, record, { hash, previous, storedAt }));
      // A busy event loop calls timers late.
      const isDue = performance.now() - this.#begun >= batch.ms;
      if (++this.#open >= batch.answers || isDue) this.commit();
      return stored;
    } catch (error) {
      return Promise.reject(this.#fail(error));
    }
  }

  /**
   * Stores the answers so far, and with them what else is written meanwhile.
   * @throws FatalError
   */
  commit(also: () => void = () => undefined): void {
    if (this.#fault !== null) throw this.#fault;
    try {
      this.#begin();
      also();
      this.#database.exec("COMMIT");
      this.#open = 0;
      this.#stopWaiting();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Resolves once what is stored survives a power loss. */
  async sync(): Promise<void> {
    this.commit();
    this.#syncing = this.#syncing.then(() => this.#sync());
    await this.#syncing;
  }

  /** Whether the file was removed, so that only this process can read it. */
  async isRemoved(): Promise<boolean> {
    return (await this.#log?.stat())?.nlink === 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      if (this.#fault === null) this.commit();
    } catch {
      // What could not be stored is asked again.
    }
    this.#fault ??= new FatalError("journal_closed", `${this.#options.path} is closed`);
    this.#stopWaiting();
    await this.#syncing.catch(() => undefined);
    await this.#log?.close();
    this.#log = null;
  }

  /** SQLite would sync its log only when that moves into the file. */
  async #sync(): Promise<void> {
    try {
      this.#log ??= await open(`${this.#options.path}-wal`, "r");
      await this.#log.datasync();
    } catch (error) {
      // Its folder may be gone; the next step of the run says so.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw this.#fail(error);
    }
  }

  #begin(): void {
    if (this.#timer !== null) return;
    this.#database.exec("BEGIN IMMEDIATE");
    this.#begun = performance.now();
    this.#timer = setTimeout(() => {
      try {
        this.commit();
      } catch {
        // The next call throws it.
      }
    }, batch.ms);
  }

  #stopWaiting(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #fail(error: unknown): ReputeError {
    this.#stopWaiting();
    return (this.#fault ??= this.#options.fault(error));
  }

  #remember(key: string, record: LookupRecord): LookupRecord {
    void this.#repeated.put(key, record);
    return record;
  }

  #newestOf(hash: number): number {
    return this.#newest[hash % this.#newest.length]!;
  }

  #add(hash: number, n: number): void {
    this.#newest[hash % this.#newest.length] = n;
    this.#last = n;
  }

  /** Follows a chain back to the newest answer to the key. */
  #find(key: string, hash: number): StoredAnswer | null {
    for (let n = this.#newestOf(hash); n > 0;) {
      const found = this.#table.byNumber(n);
      if (found === null) throw corrupt(`answer ${n} is missing`);
      if (found.key === key) return found;
      n = found.previous;
    }
    return null;
  }
}

const stored = Promise.resolve();

/** Rows that are read at once. */
const rowsAtOnce = 256;
