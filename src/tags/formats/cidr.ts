import type { AddressList } from "../address/address-list.js";
import { ByteChunk, longestAddress } from "../address/byte-chunk.js";

/**
 * The fewest CIDR blocks (RFC 4632) that hold exactly the addresses of the list, one a line.
 *
 * Each run of consecutive addresses is cut from its lower end into the largest aligned blocks that
 * fit; no smaller number of blocks makes up a run, and no block can reach over the end of one.
 */
export function* writeCidr({ v4, v6 }: AddressList): Iterable<Uint8Array> {
  const chunk = new ByteChunk(longestAddress + "/128\n".length);
  for (let at = 0, runEnd = 0; at < v4.length;) {
    if (at === runEnd) runEnd = endOfRunV4(v4, at);
    const bits = blockBits(v4[at]!, runEnd - at);
    chunk.putV4(v4[at]!);
    chunk.put(slash);
    chunk.putNumber(32 - bits);
    chunk.put(newline);
    if (chunk.full) yield chunk.take();
    at += 2 ** bits;
  }
  for (let at = 0, runEnd = 0; at < v6.length / 4;) {
    if (at === runEnd) runEnd = endOfRunV6(v6, at);
    const bits = blockBits(v6[at * 4 + 3]!, runEnd - at);
    chunk.putV6(v6, at);
    chunk.put(slash);
    chunk.putNumber(128 - bits);
    chunk.put(newline);
    if (chunk.full) yield chunk.take();
    at += 2 ** bits;
  }
  yield chunk.take();
}

const slash = Buffer.from("/");
const newline = Buffer.from("\n");

/** Size of the block at the head of a run, as power of two: aligned, and no longer than the run. */
function blockBits(lowWord: number, length: number): number {
  const aligned = lowWord === 0 ? 32 : 31 - Math.clz32(lowWord & -lowWord);
  return Math.min(aligned, 31 - Math.clz32(length));
}

function endOfRunV4(v4: Uint32Array, start: number): number {
  let end = start + 1;
  while (end < v4.length && v4[end] === v4[end - 1]! + 1) end++;
  return end;
}

function endOfRunV6(v6: Uint32Array, start: number): number {
  let end = start + 1;
  while (end < v6.length / 4 && follows(v6, end)) end++;
  return end;
}

/** Whether the address at `index` is the one before it plus one. */
function follows(v6: Uint32Array, index: number): boolean {
  let carry = 1;
  for (let word = 3; word >= 0; word--) {
    const next = v6[index * 4 - 4 + word]! + carry;
    carry = next > 0xffffffff ? 1 : 0;
    if (next >>> 0 !== v6[index * 4 + word]) return false;
  }
  return carry === 0;
}
