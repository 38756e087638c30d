import { keccak_256 } from "@noble/hashes/sha3.js";
import { base58xmr } from "@scure/base";

/**
 * Reads a Monero address of the main network: standard (`4…`), with an integrated payment
 * identifier (`4…`, longer) and subaddress (`8…`), by its base58 in blocks and Keccak checksum.
 */
export function readMonero(text: string): string | null {
  if (!form.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base58xmr.decode(text);
  } catch {
    return null;
  }
  if (lengths.get(bytes[0] ?? 0) !== bytes.length) return null;
  const body = bytes.subarray(0, -checksumLength);
  const checksum = bytes.subarray(-checksumLength);
  return Buffer.compare(keccak_256(body).subarray(0, checksumLength), checksum) === 0 ? text : null;
}

const form = /^[48][1-9A-HJ-NP-Za-km-z]{94}(?:[1-9A-HJ-NP-Za-km-z]{11})?$/;
const checksumLength = 4;
/** Bytes by network byte: two keys of 32 bytes and a checksum, and an identifier of 8 bytes in 19. */
const lengths: ReadonlyMap<number, number> = new Map([
  [18, 69],
  [42, 69],
  [19, 77],
]);
