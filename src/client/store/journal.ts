import type { LookupRecord } from "../../core/finding.js";
import {
  AnswerTable,
  type ReadBackOptions,
  storedRecord,
  type StoredAnswer,
} from "./answer-table.js";
import type { Batches } from "./batches.js";
import { keyHash } from "./cache-key.js";
import { corrupt, type Database } from "./database.js";
import { type LookupStore, MemoryStore } from "./store.js";

export interface JournalOptions extends ReadBackOptions {
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

/** The answers of one run, whatever their age. */
export class Journal implements LookupStore {
  readonly #table: AnswerTable;
  readonly #batches: Batches;
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

  constructor(database: Database, batches: Batches, options: JournalOptions) {
    this.#table = new AnswerTable(database);
    this.#batches = batches;
    this.#options = options;
    this.#newest = new Uint32Array(options.chains ?? 2 ** 22);
  }

  /** Number of the latest answer; 0 for none. */
  get last(): number {
    return this.#last;
  }

  /**
   * Reads the answers that are there, in order, and checks each. Call this first.
   * @param last number of the latest
   * @throws FatalError for damage
   */
  *replay(last: number): Generator<StoredAnswer> {
    while (this.#last < last) {
      const answer = this.#read(this.#last + 1);
      this.#add(keyHash(answer.key), answer.n);
      yield answer;
    }
  }

  get(key: string): LookupRecord | null {
    const hash = keyHash(key);
    if (this.#newestOf(hash) === 0) return null;
    const known = this.#repeated.get(key);
    if (known !== null) return known;
    const stored = this.#find(key, hash);
    if (stored === null) return null;
    const { taken } = this.#options;
    const isTaken = taken !== undefined && stored.n <= taken.last;
    if (isTaken && !taken.isUsed(stored)) return null;
    const found = this.#reading(() => storedRecord(stored, this.#options));
    const record = isTaken ? { ...found, origin: undefined } : found;
    this.#repeated.put(key, record);
    return record;
  }

  put(key: string, record: LookupRecord): void {
    this.#batches.add(() => {
      const hash = keyHash(key);
      const previous = this.#newestOf(hash);
      const storedAt = Date.parse(record.finding.lookedUpAt ?? "") || 0;
      this.#add(hash, this.#table.add(key, record, { hash, previous, storedAt }));
      if (this.#repeated.get(key) !== null) this.#repeated.put(key, record);
    });
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
      const found = this.#read(n);
      if (found.key === key) return found;
      n = found.previous;
    }
    return null;
  }

  #read(n: number): StoredAnswer {
    return this.#reading(() => {
      const found = this.#table.byNumber(n);
      if (found === null) throw corrupt(`answer ${n} is missing`);
      return found;
    });
  }

  #reading<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#batches.fail(error);
    }
  }
}
