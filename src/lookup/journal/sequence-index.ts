import { BloomFilter } from "./bloom-filter.js";
import { readHead } from "./finding-record.js";
import { HashTable } from "./hash-table.js";
import {
  bucketOf,
  eachInBucket,
  extendBucket,
  extendedLength,
  findInBucket,
} from "./index-bucket.js";
import type { JournalFile } from "./journal-file.js";
import { SortedRun } from "./sorted-run.js";

export interface SequenceIndexOptions {
  /** Entries kept in memory before they move into the file, at most 2^20. Default 114,688. */
  readonly recentLimit?: number;
  /** Bytes of the filter, a power of two. Default 8 MiB. */
  readonly filterBytes?: number;
}

/**
 * Finds the newest record of a key's hash: from 32-bit hash to sequence number.
 *
 * LMDB's tree is at its worst with keys in random order: each of them copies a page of its own and
 * maps its surroundings into memory. So what was added last is kept in memory; when that is full it
 * is sorted and moves into the file, beside each commit a little, in buckets of many entries that
 * are neighbours there as well. A Bloom filter spares the file the many questions for what it does
 * not have. Memory is fixed, however many records there are.
 *
 * The file's index lags behind its records. How far it goes is written with it, and `load` reads
 * the rest from the records themselves.
 */
export class SequenceIndex {
  readonly #file: JournalFile;
  readonly #filter: BloomFilter;
  readonly #recentLimit: number;
  readonly #recent: HashTable;
  readonly #sorted: SortedRun;
  /** Bytes of buckets on their way into the file, the same memory for each transaction. */
  #buckets = Buffer.allocUnsafeSlow(firstBucketBytes);
  /** The last sequence number that `#sorted` covers. */
  #sortedThrough = 0;
  #last = 0;

  constructor(file: JournalFile, options: SequenceIndexOptions = {}) {
    this.#file = file;
    this.#filter = new BloomFilter(options.filterBytes ?? 8 * 1024 * 1024);
    this.#recentLimit = options.recentLimit ?? 2 ** 17 - aboveLimit;
    this.#recent = new HashTable(this.#recentLimit + aboveLimit);
    this.#sorted = new SortedRun(this.#recentLimit + aboveLimit);
  }

  /** Adds what the file has from before. */
  async load(): Promise<void> {
    const add = (hash: number): void => this.expect(hash);
    await this.#file.eachBucket((bytes) => eachInBucket(bytes, add));
    const from = this.#file.indexedThrough + 1;
    await this.#file.eachRecord(from, (sequence, bytes) => {
      const { hash } = readHead(bytes);
      this.expect(hash);
      this.add(hash, sequence);
    });
    // Sessions that were killed before they had moved their entries would leave more and more of them.
    if (this.#recent.size < this.#recentLimit) return;
    this.spill(Number.POSITIVE_INFINITY);
    await this.#file.committed();
    this.spillWritten();
  }

  /** False: no record has this hash, nor is one with it expected. */
  mayHave(hash: number): boolean {
    return this.#filter.mayHave(hash);
  }

  /** Sequence number of the newest record with this hash; 0 for none. */
  find(hash: number): number {
    const sequence = this.#recent.get(hash) || this.#sorted.find(hash);
    if (sequence) return sequence;
    const bytes = this.#file.readBucket(bucketOf(hash));
    return bytes ? findInBucket(bytes, hash) : 0;
  }

  /** Notes that a record with this hash will be written. */
  expect(hash: number): void {
    this.#filter.add(hash);
  }

  /** Notes a record that is being written and was expected, in ascending order of the numbers. */
  add(hash: number, sequence: number): void {
    this.#recent.set(hash, sequence);
    this.#last = sequence;
  }

  /** Moves about `count` entries into the file, within the transaction that is being written. */
  spill(count: number): void {
    if (this.#sorted.done) {
      if (this.#recent.size < this.#recentLimit) return;
      this.#sorted.takeFrom(this.#recent);
      this.#sortedThrough = this.#last;
      this.#recent.clear();
    }
    let used = 0;
    this.#sorted.take(count, bucketOf, (bucket, hashes, sequences) => {
      this.#file.writeBucket(bucket, (bytes) => {
        const room = this.#bucketRoom(used, extendedLength(bytes, hashes));
        used += room.length;
        return extendBucket(room, bytes, hashes, sequences);
      });
    });
    if (this.#sorted.done) this.#file.writeIndexedThrough(this.#sortedThrough);
  }

  /** What was spilled is written: the file answers for it from now on. */
  spillWritten(): void {
    if (this.#sorted.done) this.#sorted.clear();
  }

  #bucketRoom(from: number, length: number): Buffer {
    if (from + length > this.#buckets.length) {
      // What is there already goes on to the file from where it is.
      this.#buckets = Buffer.allocUnsafeSlow(2 * (this.#buckets.length + length));
    }
    return this.#buckets.subarray(from, from + length);
  }
}

/** So many records come at once, beyond the limit. */
const aboveLimit = 2 ** 14;

/** More than the buckets of a transaction have at a few million records. */
const firstBucketBytes = 1024 * 1024;
