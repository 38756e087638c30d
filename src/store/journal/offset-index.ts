/** Chains: 16 MiB, in which 5 million records make chains of 1.2 on average. */
const defaultChains = 2 ** 22;

/**
 * Finds records by the hash of their key: each hash belongs to a chain, the index has the place of
 * each chain's newest record, and each record has the place of the one before it. So memory does not
 * grow with the records.
 */
export class OffsetIndex {
  readonly #newest: Uint32Array;
  /** Place of a record → place of the one before it, where that is not what the record says. */
  readonly #relinked = new Map<number, number>();

  /** @param chains a power of two */
  constructor(chains = defaultChains) {
    this.#newest = new Uint32Array(chains);
  }

  /** Place of the newest record in a hash's chain; 0 for none. */
  newest(hash: number): number {
    return this.#newest[hash & (this.#newest.length - 1)] as number;
  }

  /** Notes a new record of the chain, which says that `newest` was the one before it. */
  add(hash: number, place: number): void {
    this.#newest[hash & (this.#newest.length - 1)] = place;
  }

  /** Notes a record of an earlier session. Where the one before it was damaged, it is passed over. */
  replay(hash: number, place: number, previous: number): void {
    const newest = this.newest(hash);
    if (newest !== previous) this.#relinked.set(place, newest);
    this.add(hash, place);
  }

  /** Place of the record before another one in its chain; 0 for none. */
  before(place: number, previous: number): number {
    const earlier = this.#relinked.get(place) ?? previous;
    return earlier < place ? earlier : 0;
  }
}
