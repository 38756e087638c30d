/**
 * Sums a count per distinct hash in bounded memory. Exact up to `capacity` hashes; beyond, it keeps
 * those below a threshold that halves when they are too many (adaptive sampling: Flajolet, 1990).
 */
export class SampledCounts {
  readonly #capacity: number;
  readonly #counts = new Map<number, number>();
  #threshold = 2 ** 53;

  /** @param capacity maximum number of hashes kept */
  constructor(capacity = 2 ** 18) {
    this.#capacity = capacity;
  }

  /** Whether the hash is new and part of the sample. */
  wants(hash: number): boolean {
    return hash < this.#threshold && !this.#counts.has(hash);
  }

  /** @param hash evenly distributed, below 2^53 */
  set(hash: number, count: number): void {
    if (hash >= this.#threshold) return;
    this.#counts.set(hash, count);
    while (this.#counts.size > this.#capacity) {
      this.#threshold /= 2;
      for (const kept of this.#counts.keys()) {
        if (kept >= this.#threshold) this.#counts.delete(kept);
      }
    }
  }

  /** Sum of the counts, scaled from the sample to all hashes. */
  get total(): number {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return Math.round(sum * (2 ** 53 / this.#threshold));
  }
}
