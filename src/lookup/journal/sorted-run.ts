import type { HashTable } from "./hash-table.js";

/**
 * What a table held, in the order of the hashes, to be taken from the front bit by bit. `find`
 * answers for all of it, taken or not: what was taken may not be written yet.
 */
export class SortedRun {
  readonly #hashes: Uint32Array;
  readonly #numbers: Uint32Array;
  #taken = 0;

  /** @param table with at most 2^21 hashes */
  constructor(table: HashTable) {
    const unsorted = new Uint32Array(table.size);
    // Hash and position share one number: only numbers without a comparator sort fast.
    const order = new Float64Array(table.size);
    let count = 0;
    table.forEach((hash, number) => {
      unsorted[count] = number;
      order[count] = hash * positions + count;
      count++;
    });
    order.sort();
    this.#hashes = new Uint32Array(count);
    this.#numbers = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const packed = order[i] as number;
      this.#hashes[i] = Math.floor(packed / positions);
      this.#numbers[i] = unsorted[packed % positions] as number;
    }
  }

  get done(): boolean {
    return this.#taken === this.#hashes.length;
  }

  /** Hands over the next pairs: `count` of them, and those that share the last one's bucket. */
  take(count: number, bucketOf: (hash: number) => number, each: TakeBucket): void {
    const end = Math.min(this.#taken + count, this.#hashes.length);
    while (this.#taken < end) {
      const from = this.#taken;
      const bucket = bucketOf(this.#hashes[from] as number);
      let to = from + 1;
      while (to < this.#hashes.length && bucketOf(this.#hashes[to] as number) === bucket) to++;
      each(bucket, this.#hashes.subarray(from, to), this.#numbers.subarray(from, to));
      this.#taken = to;
    }
  }

  /** The number of a hash; 0 for none. */
  find(hash: number): number {
    let low = 0;
    let high = this.#hashes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#hashes[middle] as number) < hash) low = middle + 1;
      else high = middle;
    }
    return this.#hashes[low] === hash ? (this.#numbers[low] as number) : 0;
  }
}

/** Takes all pairs of one bucket. */
export type TakeBucket = (bucket: number, hashes: Uint32Array, numbers: Uint32Array) => void;

const positions = 2 ** 21;
