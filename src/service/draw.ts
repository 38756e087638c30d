/** Numbers that depend on the seed, a text and the question alone. Each question draws independently. */
export class Draw {
  readonly #seed: number;
  readonly #text: string;

  constructor(seed: number, text: string) {
    this.#seed = seed;
    this.#text = text;
  }

  /** A number from 0 up to, not including, 1. */
  share(question: string): number {
    return seededHash(this.#seed, `${question} ${this.#text}`, 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number, question: string): number {
    return Math.floor(this.share(question) * end);
  }

  /** One of the choices; `skew` above 1 prefers those at the beginning. */
  pick<T>(choices: readonly T[], question: string, skew = 1): T {
    return choices[Math.floor(this.share(question) ** skew * choices.length)]!;
  }
}

/**
 * Hashes a seed, a text and a number to 32 bits, which decide on faults: the same request gets the
 * same fault in whatever order requests arrive. Uses FNV-1a over the text, then the finaliser of
 * MurmurHash3, without which similar texts would yield similar numbers.
 */
export function seededHash(seed: number, text: string, number: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash ^= Math.imul(number, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
