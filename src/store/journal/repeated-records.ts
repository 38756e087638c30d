import type { LookupRecord } from "../../core/attempt.js";

/**
 * Records that were asked for again, the latest `size` of them at least, in memory: what repeats
 * often in an input is not read from the file each time. Two generations: when the newer one is full
 * it becomes the older, whose records go unless they are asked for again.
 */
export class RepeatedRecords {
  readonly #size: number;
  #newer = new Map<string, LookupRecord>();
  #older = new Map<string, LookupRecord>();

  constructor(size: number) {
    this.#size = size;
  }

  get(key: string): LookupRecord | undefined {
    const newer = this.#newer.get(key);
    if (newer !== undefined) return newer;
    const older = this.#older.get(key);
    if (older !== undefined) this.add(key, older);
    return older;
  }

  add(key: string, record: LookupRecord): void {
    if (this.#newer.size >= this.#size && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, record);
  }

  /** Takes note of a newer record for a key that is here. */
  update(key: string, record: LookupRecord): void {
    if (this.#newer.has(key) || this.#older.has(key)) this.add(key, record);
  }
}
