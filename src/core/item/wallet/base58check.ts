import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";

/**
 * The version byte of a base58check address with a hash of 20 bytes in it, or null when it is none
 * or its checksum does not match.
 */
export function base58checkVersion(text: string): number | null {
  if (text.length < shortest || text.length > longest || !alphabet.test(text)) return null;
  try {
    const payload = coder.decode(text);
    return payload.length === payloadLength ? (payload[0] ?? null) : null;
  } catch {
    return null;
  }
}

const coder = createBase58check(sha256);
const alphabet = /^[1-9A-HJ-NP-Za-km-z]+$/;
/** 25 bytes: version, hash, checksum; each leading zero byte is written as one digit. */
const shortest = 26;
const longest = 35;
const payloadLength = 21;
