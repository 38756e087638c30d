/**
 * A set of 32-bit numbers in fixed memory that can be wrong in one direction only: it never denies
 * a number that was added (Bloom, 1970). A number's four bits lie within 64 bytes, one cache line.
 *
 * 8 MiB tell 10 million numbers apart from others with about 7% false alarms, 4 million with 0.5%.
 */
export class BloomFilter {
  readonly #words: Int32Array;
  readonly #lineMask: number;

  /** @param bytes size of the table, a power of two of at least 64 */
  constructor(bytes: number) {
    this.#words = new Int32Array(bytes / 4);
    this.#lineMask = bytes / 64 - 1;
  }

  add(value: number): void {
    const mixed = mix(value);
    const line = (value & this.#lineMask) << 4;
    const words = this.#words;
    for (let shift = 0; shift < 4; shift++) {
      const at = mixed >>> (shift * 8);
      // The low five bits choose the bit; the word is one of four that only this shift uses.
      const word = line + shift * 4 + ((at >>> 5) & 3);
      words[word] = (words[word] as number) | (1 << (at & 31));
    }
  }

  /** False: was never added. True: was added, or looks as if. */
  mayHave(value: number): boolean {
    const mixed = mix(value);
    const line = (value & this.#lineMask) << 4;
    const words = this.#words;
    for (let shift = 0; shift < 4; shift++) {
      const at = mixed >>> (shift * 8);
      const word = words[line + shift * 4 + ((at >>> 5) & 3)] as number;
      if ((word & (1 << (at & 31))) === 0) return false;
    }
    return true;
  }
}

function mix(value: number): number {
  const once = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39);
  return twice ^ (twice >>> 15);
}
