/** Default number of chains; 5 million records give chains of 1.2 on average. */
const defaultChains = 2 ** 22;

/**
 * A page has `2 ** pageBits` chains and is allocated when its first record is added. Small, since the
 * few records of a short run are spread over all pages.
 */
const pageBits = 10;
const pageChains = 2 ** pageBits;

/**
 * Finds records by the hash of their key. Each hash maps to a chain; the index holds the offset of
 * the newest record per chain, and each record holds the offset of the one before it. Memory use
 * is at most 17 MiB.
 */
export class OffsetIndex {
  /** Offsets of the newest records, by chain. */
  readonly #pages: (Uint32Array | undefined)[];
  readonly #chains: number;
  /** Record offset → previous offset, for records whose own link is broken. */
  readonly #relinked = new Map<number, number>();

  /** @param chains a power of two */
  constructor(chains = defaultChains) {
    this.#chains = chains;
    this.#pages = Array.from({ length: Math.ceil(chains / pageChains) });
  }

  /** Offset of the newest record in the hash's chain; 0 for none. */
  newest(hash: number): number {
    const chain = hash & (this.#chains - 1);
    return this.#pages[chain >>> pageBits]?.[chain & (pageChains - 1)] ?? 0;
  }

  /** Adds a new record, whose `previous` must be the chain's newest. */
  add(hash: number, offset: number): void {
    const chain = hash & (this.#chains - 1);
    const page = (this.#pages[chain >>> pageBits] ??= new Uint32Array(pageChains));
    page[chain & (pageChains - 1)] = offset;
  }

  /**
   * Adds a record read from disk. If its predecessor is damaged, links it to the newest intact
   * record.
   */
  replay(hash: number, offset: number, previous: number): void {
    const newest = this.newest(hash);
    if (newest !== previous) this.#relinked.set(offset, newest);
    this.add(hash, offset);
  }

  /** Offset of the record before this one in its chain; 0 for none. */
  before(offset: number, previous: number): number {
    const earlier = this.#relinked.get(offset) ?? previous;
    return earlier < offset ? earlier : 0;
  }
}
