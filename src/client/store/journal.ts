import type { ReputeError } from "../../core/errors.js";
import type { LookupRecord } from "../../core/finding.js";
import {
  AnswerTable,
  keyHash,
  type ReadBackOptions,
  storedRecord,
  type StoredAnswer,
} from "./answer-table.js";
import { corrupt, type SqliteFile } from "./sqlite-file.js";
import { Batch, type LookupStore, MemoryStore } from "./store.js";

export interface ReplayOptions extends ReadBackOptions {
  /** Which answers of an earlier run are used, without an `origin` in this one. @default none */
  readonly taken?: Taken | undefined;
  /** Number of an answer known to be stored: if an earlier one is missing, the file is damaged. @default 0 */
  readonly least?: number | undefined;
}

/** Answers of an earlier run. */
export interface Taken {
  /** Number of the latest one. */
  readonly last: number;
  /** Whether an answer is used. */
  readonly isUsed: (stored: StoredAnswer) => boolean;
}

interface JournalOptions {
  /** Explains an error of SQLite or the system. */
  readonly fault: (error: unknown) => ReputeError;
  /** Number of chains of the index in memory, 8 bytes each. @default 2^20 */
  readonly chains?: number;
}

/**
 * The answers of one run, whatever their age, in a file that this process has alone. After a fault,
 * nothing more is stored.
 */
export class Journal implements LookupStore {
  /** Number of the latest answer that is stored; 0 for none. */
  last: number;
  readonly #table: AnswerTable;
  readonly #explain: (error: unknown) => ReputeError;
  readonly #batch = new Batch(() => this.#commit());
  /**
   * Number of the newest answer of each chain, by the hash of its key: most items are new, and asking
   * SQLite for each would cost more than storing it. An index of SQLite would double what is written.
   */
  readonly #newest: Uint32Array;
  /** A Bloom filter of 32 bits for each chain, so that most new keys need no read. */
  readonly #marks: Uint32Array;
  /** Records that were read again: items that repeat often in an input. */
  readonly #repeated = new MemoryStore({ most: 1024 });
  #options: ReplayOptions = {};
  #fault: ReputeError | null = null;

  constructor(file: SqliteFile, { fault, chains = 2 ** 20 }: JournalOptions) {
    this.#table = new AnswerTable(file);
    this.#explain = fault;
    this.#newest = new Uint32Array(chains);
    this.#marks = new Uint32Array(chains);
    this.last = Number(file.value("SELECT coalesce(max(n), 0) FROM answers"));
  }

  /**
   * Reads the answers that are there, in order, and checks each. Call this first.
   *
   * @throws ReputeError for damage
   */
  *replay(options: ReplayOptions = {}): Generator<StoredAnswer> {
    this.#options = options;
    const last = Math.max(this.last, options.least ?? 0);
    for (let n = 1; n <= last; n++) {
      const answer = this.#read(n);
      this.#link(keyHash(answer.key), n);
      yield answer;
    }
  }

  get(key: string): LookupRecord | null {
    const hash = keyHash(key);
    if ((this.#marks[this.#chainOf(hash)]! & this.#markOf(hash)) === 0) return null;
    const known = this.#repeated.get(key);
    if (known !== null) return known;
    const stored = this.#find(key, hash);
    if (stored === null) return null;
    const { taken } = this.#options;
    const isTaken = taken !== undefined && stored.n <= taken.last;
    if (isTaken && !taken.isUsed(stored)) return null;
    const found = this.#try(() => storedRecord(stored, this.#options));
    const record = isTaken ? { ...found, origin: undefined } : found;
    this.#repeated.put(key, record);
    return record;
  }

  put(key: string, record: LookupRecord): void {
    if (this.#fault !== null) throw this.#fault;
    const hash = keyHash(key);
    this.#try(() => {
      const { database } = this.#table.file;
      if (!database.isTransaction) database.exec("BEGIN");
      this.last = this.#table.add(key, this.#newest[this.#chainOf(hash)]!, record);
    });
    this.#link(hash, this.last);
    this.#batch.added();
    if (this.#repeated.get(key) !== null) this.#repeated.put(key, record);
  }

  /** Stores the answers so far. @throws ReputeError */
  flush(): void {
    this.#batch.flush();
    if (this.#fault !== null) throw this.#fault;
  }

  /** Forgets all answers. @throws ReputeError */
  clear(): void {
    this.#try(() => this.#table.file.database.exec("DELETE FROM answers"));
    this.last = 0;
    this.#newest.fill(0);
    this.#marks.fill(0);
  }

  /** Explains a fault, after which nothing is stored. */
  fail(error: unknown): ReputeError {
    return (this.#fault ??= this.#explain(error));
  }

  #commit(): void {
    if (this.#fault !== null) return;
    try {
      this.#table.file.database.exec("COMMIT");
    } catch (error) {
      this.fail(error);
    }
  }

  /** Makes an answer the newest of its chain. */
  #link(hash: number, n: number): void {
    const chain = this.#chainOf(hash);
    this.#newest[chain] = n;
    this.#marks[chain]! |= this.#markOf(hash);
  }

  #chainOf(hash: number): number {
    return hash % this.#newest.length;
  }

  #markOf(hash: number): number {
    return 1 << Math.floor(hash / this.#newest.length);
  }

  /** Follows a chain back to the newest answer to the key. */
  #find(key: string, hash: number): StoredAnswer | null {
    for (let n = this.#newest[this.#chainOf(hash)]!; n > 0;) {
      const found = this.#read(n);
      if (found.key === key) return found;
      n = found.link;
    }
    return null;
  }

  #read(n: number): StoredAnswer {
    return this.#try(() => {
      const found = this.#table.byNumber(n);
      if (found === null) throw corrupt(`answer ${n} is missing`);
      return found;
    });
  }

  #try<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.fail(error);
    }
  }
}
