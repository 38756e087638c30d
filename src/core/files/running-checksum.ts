import { crc32 } from "node:zlib";

/** The CRC-32 of the first `length` bytes of a file. */
type Prefix = readonly [length: number, crc: number];

/** What is known of the bytes of a file that grows; plain JSON, kept in checkpoints. */
export interface ChecksumState {
  /** Bytes that count. */
  readonly bytes: number;
  /** CRC-32 of all of them. */
  readonly crc: number;
  /** The same of shorter prefixes, ascending: they tell where damage is. */
  readonly marks: readonly Prefix[];
}

/** Where bytes are not what they were: from the first byte to the one after the last. */
export interface Damage {
  readonly from: number;
  readonly to: number;
}

/** Most marks that are kept; then every other one goes. */
const mostMarks = 128;

/** Bytes between two marks at the beginning; doubled whenever marks go. */
const firstSpacing = 64 * 1024;

/**
 * The checksum of a file, taken as its bytes pass by, and compared with an earlier one where there is
 * one. Memory is fixed: the longer the file, the further apart the marks.
 */
export class RunningChecksum {
  readonly #before: ChecksumState | null;
  /** Prefixes of `#before` that are still to come. */
  #expected: readonly Prefix[];
  #bytes = 0;
  #crc = 0;
  #marks: Prefix[] = [];
  #spacing = firstSpacing;

  /** @param before checksum that the first bytes must have; null for none */
  constructor(before: ChecksumState | null = null) {
    this.#before = before;
    this.#expected = before === null ? [] : [...before.marks, [before.bytes, before.crc]];
  }

  /** Bytes that passed by. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes the next bytes. Returns where they differ from the earlier checksum, or null. */
  update(bytes: Uint8Array): Damage | null {
    if (this.#expected.length === 0) {
      this.#take(bytes);
      return null;
    }
    let rest = bytes;
    for (const [length, crc] of this.#expected) {
      if (length > this.#bytes + rest.length) break;
      const within = length - this.#bytes;
      this.#take(rest.subarray(0, within));
      rest = rest.subarray(within);
      if (this.#crc !== crc) return { from: this.#reached(length), to: length };
    }
    this.#take(rest);
    const reached = this.#bytes;
    this.#expected = this.#expected.filter(([length]) => length > reached);
    return null;
  }

  /** What is known so far: no less than before. */
  state(): ChecksumState {
    if (this.#before !== null && this.#bytes < this.#before.bytes) return this.#before;
    return { bytes: this.#bytes, crc: this.#crc, marks: [...this.#marks] };
  }

  /** One that goes on from here by itself. */
  fork(): RunningChecksum {
    const fork = new RunningChecksum(this.#before);
    fork.#expected = this.#expected;
    fork.#bytes = this.#bytes;
    fork.#crc = this.#crc;
    fork.#marks = [...this.#marks];
    fork.#spacing = this.#spacing;
    return fork;
  }

  #take(bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc);
    this.#bytes += bytes.length;
    if (this.#bytes - (this.#marks.at(-1)?.[0] ?? 0) < this.#spacing) return;
    this.#marks.push([this.#bytes, this.#crc]);
    if (this.#marks.length <= mostMarks) return;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 1);
    this.#spacing *= 2;
  }

  /** The longest earlier prefix before `length`, all of which were as expected. */
  #reached(length: number): number {
    return this.#before?.marks.findLast(([earlier]) => earlier < length)?.[0] ?? 0;
  }
}
