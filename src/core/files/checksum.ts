import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

type Prefix = readonly [length: number, crc: number];

/** The checksum of a growing file; plain JSON, stored in checkpoints. */
export interface ChecksumState {
  readonly bytes: number;
  readonly crc: number;
  /** CRC-32 of shorter prefixes, ascending, to locate damage. */
  readonly marks: readonly Prefix[];
}

export interface Damage {
  readonly from: number;
  readonly to: number;
}

/** Maximum number of marks; beyond it, every other one is dropped. */
const mostMarks = 128;

const readBytes = 1024 * 1024;

/** Initial distance between marks in bytes; doubles whenever marks are dropped. */
const firstSpacing = 64 * 1024;

/**
 * Computes a file's checksum as its bytes pass by and compares it with an earlier checksum, if any.
 * Memory is fixed: the longer the file, the further apart the marks.
 */
export class RunningChecksum {
  readonly #before: ChecksumState | null;
  /** Prefixes of `#before` not reached yet. */
  #expected: readonly Prefix[];
  #bytes = 0;
  #crc = 0;
  #marks: Prefix[] = [];
  #spacing = firstSpacing;

  /** @param before checksum that the first bytes must match; null for none */
  constructor(before: ChecksumState | null = null) {
    this.#before = before;
    this.#expected = before === null ? [] : [...before.marks, [before.bytes, before.crc]];
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Length of the earlier bytes if they have not all passed by again, else 0. */
  get awaited(): number {
    return this.#expected.at(-1)?.[0] ?? 0;
  }

  /** Adds bytes. Returns where they differ from the earlier checksum, or null. */
  update(bytes: Uint8Array): Damage | null {
    let rest = bytes;
    for (const [length, crc] of this.#expected) {
      if (length > this.#bytes + rest.length) break;
      const within = length - this.#bytes;
      this.#take(rest.subarray(0, within));
      rest = rest.subarray(within);
      if (this.#crc !== crc)
        return { from: this.#before?.marks.findLast(([at]) => at < length)?.[0] ?? 0, to: length };
    }
    this.#take(rest);
    const reached = this.#bytes;
    this.#expected = this.#expected.filter(([length]) => length > reached);
    return null;
  }

  /**
   * Adds a file's bytes until there are `length` of them or the file ends.
   * @param take receives the bytes that are as they were
   * @returns as `update`
   */
  async read(
    file: FileHandle,
    length: number,
    take?: (bytes: Uint8Array) => void,
  ): Promise<Damage | null> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(readBytes, length - this.#bytes)));
    while (this.#bytes < length) {
      const most = Math.min(buffer.length, length - this.#bytes);
      const { bytesRead } = await file.read(buffer, 0, most, this.#bytes);
      if (bytesRead === 0) return null;
      const bytes = buffer.subarray(0, bytesRead);
      const damage = this.update(bytes);
      if (damage !== null) return damage;
      take?.(bytes);
    }
    return null;
  }

  /** The checksum so far; before the earlier one is reached again, that one. */
  state(): ChecksumState {
    if (this.#before !== null && this.#bytes < this.#before.bytes) return this.#before;
    return { bytes: this.#bytes, crc: this.#crc, marks: [...this.#marks] };
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
}

/** Computes the size and checksums of a file. @throws the system's error */
export async function hashFile(path: string) {
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 256 * 1024 });
  const hash = createHash("sha256");
  let bytes = 0;
  let crc = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    crc = crc32(chunk, crc);
    bytes += chunk.length;
  }
  return { bytes, crc, sha256: hash.digest("hex") };
}
