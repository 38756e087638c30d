import { hash } from "node:crypto";

/**
 * Counts distinct texts in 32 to 64 bytes each, by the first 128 bits of their SHA-256. With a
 * thousand million texts the chance that any two are taken for one is below 1 in 10^20.
 */
export class DistinctTexts {
  /** Four numbers a place; a place of zeros is empty. */
  #places = new Uint32Array(4 * 1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** True when the text was not there before. */
  add(text: string): boolean {
    const digest = hash("sha256", text, "buffer");
    const words = [0, 4, 8, 12].map((at) => digest.readUInt32LE(at)) as [number, ...number[]];
    words[0] = words[0] === 0 ? 1 : words[0];
    const at = placeOf(this.#places, words);
    if (this.#places[at] !== 0) return false;
    this.#places.set(words, at);
    if (8 * ++this.#size > this.#places.length) this.#grow();
    return true;
  }

  #grow(): void {
    const bigger = new Uint32Array(2 * this.#places.length);
    for (let at = 0; at < this.#places.length; at += 4) {
      if (this.#places[at] === 0) continue;
      const words = this.#places.subarray(at, at + 4);
      bigger.set(words, placeOf(bigger, words));
    }
    this.#places = bigger;
  }
}

/** Where a digest is, or the empty place where it would be. */
function placeOf(places: Uint32Array, words: ArrayLike<number>): number {
  const mask = places.length - 1;
  let at = ((words[0] ?? 0) * 4) & mask;
  while (places[at] !== 0 && !isAt(places, at, words)) at = (at + 4) & mask;
  return at;
}

function isAt(places: Uint32Array, at: number, words: ArrayLike<number>): boolean {
  for (let i = 0; i < 4; i++) if (places[at + i] !== words[i]) return false;
  return true;
}
