/** From 32-bit hash to a number above 0, in eight bytes a place (open addressing, linear probing). */
export class HashTable {
  #hashes: Uint32Array;
  /** 0 marks an empty place. */
  #numbers: Uint32Array;
  #size = 0;

  /** @param expected how many hashes it holds without growing */
  constructor(expected: number) {
    let places = 2;
    while (places < 2 * expected) places *= 2;
    this.#hashes = new Uint32Array(places);
    this.#numbers = new Uint32Array(places);
  }

  get size(): number {
    return this.#size;
  }

  /** The number of a hash; 0 for none. */
  get(hash: number): number {
    return this.#numbers[this.#placeOf(hash)] as number;
  }

  set(hash: number, number: number): void {
    const place = this.#placeOf(hash);
    if (this.#numbers[place] !== 0) {
      this.#numbers[place] = number;
      return;
    }
    this.#hashes[place] = hash;
    this.#numbers[place] = number;
    if (2 * ++this.#size > this.#hashes.length) this.#grow();
  }

  forEach(visit: (hash: number, number: number) => void): void {
    for (let place = 0; place < this.#numbers.length; place++) {
      const number = this.#numbers[place] as number;
      if (number !== 0) visit(this.#hashes[place] as number, number);
    }
  }

  clear(): void {
    this.#numbers.fill(0);
    this.#size = 0;
  }

  /** Where a hash is, or the empty place where it would be. */
  #placeOf(hash: number): number {
    const mask = this.#hashes.length - 1;
    let place = hash & mask;
    while (this.#numbers[place] !== 0 && this.#hashes[place] !== hash) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const bigger = new HashTable(this.#hashes.length);
    this.forEach((hash, number) => bigger.set(hash, number));
    this.#hashes = bigger.#hashes;
    this.#numbers = bigger.#numbers;
  }
}
