import { base32nopad } from "@scure/base";

/**
 * Reads a Stellar address: an account (`G…`), a multiplexed account (`M…`) or a contract (`C…`).
 *
 * @see https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md
 * @returns the address unchanged; null if it is none, or its checksum is wrong
 */
export function readStellar(text: string): string | null {
  if (!form.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base32nopad.decode(text);
  } catch {
    return null;
  }
  const view = Buffer.from(bytes);
  if (!versions.has(view[0])) return null;
  return crc16(view.subarray(0, -2)) === view.readUInt16LE(view.length - 2) ? text : null;
}

/** Not `S…`, which is a secret. */
const form = /^(?:[GC][A-Z2-7]{55}|M[A-Z2-7]{68})$/;
const versions: ReadonlySet<number | undefined> = new Set([6 << 3, 2 << 3, 12 << 3]);

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}
