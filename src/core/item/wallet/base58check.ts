import { sha256 } from "@noble/hashes/sha2.js";
import { base58, base58xrp, type BytesCoder } from "@scure/base";

/**
 * Reads a Base58Check address with a payload of 20 or 32 bytes behind its version: Bitcoin, Litecoin,
 * Dogecoin, Dash, Zcash, Tron, Tezos and others; Ripple has its own order of the alphabet.
 *
 * @returns the address unchanged, or null if it is not one or its checksum is wrong
 */
export function readBase58check(text: string): string | null {
  if (!lengths.test(text) || !upper.test(text) || !lower.test(text)) return null;
  return hasPayload(text, base58) || (text.startsWith("r") && hasPayload(text, base58xrp))
    ? text
    : null;
}

/** Reads a Solana address: a public key of 32 bytes without a checksum. */
export function readSolana(text: string): string | null {
  return solana.test(text) && decode(text, base58)?.length === 32 ? text : null;
}

/** 25 to 27 bytes (version, hash, checksum), or 37 to 39. Each leading zero byte is one digit. */
const lengths = /^(?:[1-9A-HJ-NP-Za-km-z]{25,37}|[1-9A-HJ-NP-Za-km-z]{50,54})$/;
/** What has one case only is another hash or a word; not one address in a million does. */
const upper = /[A-Z]/;
const lower = /[a-z]/;
const solana = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const checksumBytes = 4;
/** Bitcoin's version has one byte, Zcash's two, that of Tezos three. */
const payloadsByLength: ReadonlySet<number> = new Set([21, 22, 23, 33, 34]);
/** Versions from here on are those of private keys (WIF), which must never be sent. */
const firstPrivateVersion = 0x80;

function hasPayload(text: string, alphabet: BytesCoder): boolean {
  const bytes = decode(text, alphabet);
  if (bytes === null || !payloadsByLength.has(bytes.length - checksumBytes)) return false;
  const payload = bytes.subarray(0, -checksumBytes);
  if (payload.length > 32 && payload[0]! >= firstPrivateVersion) return false;
  const checksum = sha256(sha256(payload)).subarray(0, checksumBytes);
  return Buffer.compare(checksum, bytes.subarray(-checksumBytes)) === 0;
}

function decode(text: string, alphabet: BytesCoder): Uint8Array | null {
  try {
    return alphabet.decode(text);
  } catch {
    return null;
  }
}
