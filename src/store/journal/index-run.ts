import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { writeWhole } from "./write-whole.js";

/** Bytes of a pair: hash and number, 32 bits each, in the machine's own order. */
const pairBytes = 8;

/** Pairs of a block, which is read whole. The hash of each block's first pair is kept in memory. */
const blockPairs = 256;

/** A file of pairs in the order of their hashes, each hash once. It is written once, front to back. */
export class IndexRun {
  readonly #path: string;
  readonly #file: number;
  readonly #fences: Uint32Array;
  readonly #block = new Uint32Array(2 * blockPairs);
  #pairs = 0;

  /**
   * Begins a new file.
   *
   * @param most how many pairs it will have at most
   * @throws what the file system says
   */
  constructor(path: string, most: number) {
    this.#path = path;
    this.#file = openSync(path, "wx+", 0o600);
    this.#fences = new Uint32Array(Math.ceil(most / blockPairs));
  }

  /** How many pairs it has. */
  get size(): number {
    return this.#pairs;
  }

  /** Appends pairs whose hashes follow on those that are there. @throws what the file system says */
  append(pairs: Uint32Array): void {
    writeWhole(this.#file, pairs, pairs.byteLength, this.#pairs * pairBytes);
    const first = (blockPairs - (this.#pairs % blockPairs)) % blockPairs;
    for (let at = first; at < pairs.length / 2; at += blockPairs) {
      this.#fences[(this.#pairs + at) / blockPairs] = pairs[2 * at] as number;
    }
    this.#pairs += pairs.length / 2;
  }

  /** The number of a hash; 0 for none. @throws what the file system says */
  find(hash: number): number {
    const block = this.#blockOf(hash);
    if (block < 0) return 0;
    const pairs = this.#block;
    const count = this.read(block * blockPairs, pairs);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[2 * middle] as number) < hash) low = middle + 1;
      else high = middle;
    }
    return low < count && pairs[2 * low] === hash ? (pairs[2 * low + 1] as number) : 0;
  }

  /**
   * Reads as many pairs as there is room for, from a pair on; returns how many these are.
   *
   * @throws what the file system says, and where the file is shorter than what was written
   */
  read(from: number, room: Uint32Array): number {
    const length = Math.min(room.byteLength, (this.#pairs - from) * pairBytes);
    if (readSync(this.#file, room, 0, length, from * pairBytes) < length) {
      throw new Error("a file of its index became shorter");
    }
    return length / pairBytes;
  }

  /** Lets go of the file and removes it, as far as that can be done. */
  remove(): void {
    for (const step of [() => closeSync(this.#file), () => rmSync(this.#path, { force: true })]) {
      try {
        step();
      } catch {
        // What is left the next session removes.
      }
    }
  }

  /** The block that has the hash if any has; -1 for none. */
  #blockOf(hash: number): number {
    let low = 0;
    let high = Math.ceil(this.#pairs / blockPairs);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#fences[middle] as number) <= hash) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }
}
