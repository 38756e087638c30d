import type { HashTable } from "./hash-table.js";

/** Takes all pairs of one bucket. */
export type TakeBucket = (bucket: number, hashes: Uint32Array, numbers: Uint32Array) => void;

/** Most pairs that a run can hold. */
const mostPairs = 2 ** 21;

/**
 * What a table held, in the order of the hashes, to be taken from the front bit by bit. `find`
 * answers for all of it, taken or not: what was taken may not be written yet. Filled again and again,
 * always in the same memory.
 */
export class SortedRun {
  /** Hash and position in `#numbers` share one number: only numbers without a comparator sort fast. */
  #order!: Float64Array;
  #numbers!: Uint32Array;
  #size = 0;
  #taken = 0;

  /** @param expected pairs that it has room for at once; it takes more when it has to */
  constructor(expected: number) {
    this.#reserve(expected);
  }

  /** True when there is nothing to be taken. */
  get done(): boolean {
    return this.#taken === this.#size;
  }

  /** Takes over what a table of at most 2^21 hashes holds. */
  takeFrom(table: HashTable): void {
    if (table.size > this.#numbers.length) this.#reserve(table.size);
    let count = 0;
    table.forEach((hash, number) => {
      this.#numbers[count] = number;
      this.#order[count] = hash * mostPairs + count;
      count++;
    });
    this.#order.subarray(0, count).sort();
    this.#size = count;
    this.#taken = 0;
  }

  /** Holds nothing any more. */
  clear(): void {
    this.#size = 0;
    this.#taken = 0;
  }

  /** Hands over the next pairs: `count` of them, and those that share the last one's bucket. */
  take(count: number, bucketOf: (hash: number) => number, each: TakeBucket): void {
    const end = Math.min(this.#taken + count, this.#size);
    while (this.#taken < end) {
      const from = this.#taken;
      const bucket = bucketOf(this.#hashAt(from));
      let to = from + 1;
      while (to < this.#size && bucketOf(this.#hashAt(to)) === bucket) to++;
      const hashes = new Uint32Array(to - from);
      const numbers = new Uint32Array(to - from);
      for (let at = from; at < to; at++) {
        hashes[at - from] = this.#hashAt(at);
        numbers[at - from] = this.#numberAt(at);
      }
      each(bucket, hashes, numbers);
      this.#taken = to;
    }
  }

  /** The number of a hash; 0 for none. */
  find(hash: number): number {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#hashAt(middle) < hash) low = middle + 1;
      else high = middle;
    }
    return low < this.#size && this.#hashAt(low) === hash ? this.#numberAt(low) : 0;
  }

  #reserve(pairs: number): void {
    // Not zeros: the system would give such memory only when it is used, in the middle of a long run.
    this.#order = new Float64Array(pairs).fill(1);
    this.#numbers = new Uint32Array(pairs).fill(1);
  }

  #hashAt(at: number): number {
    return Math.floor((this.#order[at] as number) / mostPairs);
  }

  #numberAt(at: number): number {
    return this.#numbers[(this.#order[at] as number) % mostPairs] as number;
  }
}
