/** Slots of a new set; a power of two. */
const firstSlots = 1024;

/** Words of 32 bits that an identifier takes. */
const words = 4;

/**
 * A set of UUIDs in 16 bytes a slot, so that a million of them take 32 MB where a set of texts would
 * take several times as much. Open addressing; never more than half full.
 */
export class IdSet {
  #slots = new Uint32Array(firstSlots * words);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Adds a UUID in its usual form.
   *
   * @returns false when it was there already
   */
  add(uuid: string): boolean {
    const hex = uuid.replaceAll("-", "");
    const key = [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
    if (!this.#insert(key[0]!, key[1]!, key[2]!, key[3]!)) return false;
    this.#size++;
    if (this.#size * 2 * words > this.#slots.length) this.#grow();
    return true;
  }

  /** A name-based UUID is a hash: its first word scatters well enough. It is never all zeros. */
  #insert(a: number, b: number, c: number, d: number): boolean {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = (a * words) & mask; ; at = (at + words) & mask) {
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c && slots[at + 3] === d) {
        return false;
      }
      if (slots[at] === 0 && slots[at + 1] === 0 && slots[at + 2] === 0 && slots[at + 3] === 0) {
        slots[at] = a;
        slots[at + 1] = b;
        slots[at + 2] = c;
        slots[at + 3] = d;
        return true;
      }
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += words) {
      const [a = 0, b = 0, c = 0, d = 0] = before.subarray(at, at + words);
      if (a !== 0 || b !== 0 || c !== 0 || d !== 0) this.#insert(a, b, c, d);
    }
  }
}
