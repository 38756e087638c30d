import type { HashTable } from "./hash-table.js";

/** Most pairs that can be sorted at once. */
const mostPairs = 2 ** 21;

/** Puts what a table holds into the order of the hashes, again and again in the same memory. */
export class PairSorter {
  /** Hash and position in `#numbers` share one number: only numbers without a comparator sort fast. */
  #order!: Float64Array;
  #numbers!: Uint32Array;
  #sorted!: Uint32Array;

  /** @param expected pairs that it has room for at once; it takes more when it has to */
  constructor(expected: number) {
    this.#reserve(expected);
  }

  /**
   * Sorts the pairs of a table of at most 2^21 hashes. Returns hash, number, hash, number …, which
   * stay what they are until the next time.
   */
  sort(table: HashTable): Uint32Array {
    if (table.size > this.#numbers.length) this.#reserve(table.size);
    let count = 0;
    table.forEach((hash, number) => {
      this.#numbers[count] = number;
      this.#order[count] = hash * mostPairs + count;
      count++;
    });
    const order = this.#order.subarray(0, count).sort();
    for (let at = 0; at < count; at++) {
      const pair = order[at] as number;
      this.#sorted[2 * at] = Math.floor(pair / mostPairs);
      this.#sorted[2 * at + 1] = this.#numbers[pair % mostPairs] as number;
    }
    return this.#sorted.subarray(0, 2 * count);
  }

  #reserve(pairs: number): void {
    // Not zeros: the system would give such memory only when it is used, in the middle of a long run.
    this.#order = new Float64Array(pairs).fill(1);
    this.#numbers = new Uint32Array(pairs).fill(1);
    this.#sorted = new Uint32Array(2 * pairs).fill(1);
  }
}
