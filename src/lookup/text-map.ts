import { textHash } from "../store/text-hash.js";

/**
 * A map of texts for entries that come and go, thousands a second. What is removed is gone from its
 * memory at once. JavaScript's own `Map` is built anew every so often, and each of its old tables
 * leads to the one after it: once one has grown old, none of them, with all that was in them, is seen
 * by the garbage collector's quick passes any more. That took 1.5 KB and 5 µs of each row.
 *
 * Open addressing with linear probing; a removal moves back those behind it.
 */
export class TextMap<V> {
  #keys: (string | null)[] = empty(least);
  #values: (V | null)[] = empty(least);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): V | null {
    return this.#values[this.#placeOf(key)] ?? null;
  }

  /** @param value is not null */
  set(key: string, value: V): void {
    let place = this.#placeOf(key);
    if (this.#keys[place] === null) {
      if (2 * ++this.#size > this.#keys.length) {
        this.#grow();
        place = this.#placeOf(key);
      }
      this.#keys[place] = key;
    }
    this.#values[place] = value;
  }

  delete(key: string): void {
    let hole = this.#placeOf(key);
    if (this.#keys[hole] === null) return;
    const mask = this.#keys.length - 1;
    for (let place = (hole + 1) & mask; ; place = (place + 1) & mask) {
      const next = this.#keys[place] as string | null;
      if (next === null) break;
      // It may move into the hole unless its own search begins behind it.
      const away = (place - textHash(next)) & mask;
      if (away < ((place - hole) & mask)) continue;
      this.#keys[hole] = next;
      this.#values[hole] = this.#values[place] as V | null;
      hole = place;
    }
    this.#keys[hole] = null;
    this.#values[hole] = null;
    this.#size--;
  }

  /** Where a key is, or the empty place where it would be. */
  #placeOf(key: string): number {
    const mask = this.#keys.length - 1;
    let place = textHash(key) & mask;
    while (this.#keys[place] !== null && this.#keys[place] !== key) place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = empty(2 * keys.length);
    this.#values = empty(2 * keys.length);
    for (let from = 0; from < keys.length; from++) {
      const key = keys[from] as string | null;
      if (key === null) continue;
      const place = this.#placeOf(key);
      this.#keys[place] = key;
      this.#values[place] = values[from] as V | null;
    }
  }
}

/** Places at the start, a power of two. */
const least = 64;

function empty<T>(length: number): (T | null)[] {
  return Array.from({ length }, () => null);
}
