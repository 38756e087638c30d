import { sha256 } from "@noble/hashes/sha2.js";
import { bech32, bech32m, createBase58check } from "@scure/base";

/**
 * Reads a Bitcoin or Litecoin address of the main network: `1…`, `3…`, `L…` and `M…` (base58check),
 * `bc1…` and `ltc1…` (bech32). Litecoin's old script addresses (`3…`) are Bitcoin's in every digit.
 *
 * @returns bech32 in lower case, base58 as it stands; null when it is none or its checksum does not match
 */
export function readBitcoin(text: string): string | null {
  return readSegwit(text) ?? readBase58check(text);
}

/** 25 bytes (version, hash, checksum) in the alphabet; each leading zero byte is written as one digit. */
const base58check = /^[13LM][1-9A-HJ-NP-Za-km-z]{25,34}$/;
const coder = createBase58check(sha256);
const payloadLength = 21;
/** Payment to the hash of a public key and to that of a script: of Bitcoin, of Litecoin. */
const versions: ReadonlySet<number | undefined> = new Set([0x00, 0x05, 0x30, 0x32]);

function readBase58check(text: string): string | null {
  if (!base58check.test(text)) return null;
  try {
    const payload = coder.decode(text);
    return payload.length === payloadLength && versions.has(payload[0]) ? text : null;
  } catch {
    return null;
  }
}

const segwit = /^(?:bc|ltc)1(.)/;
const longestSegwit = 90;
/** The bech32 alphabet; the place of the first digit behind the separator is the witness version. */
const digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/** A segregated-witness address: bech32 for version 0 (BIP 173), bech32m for 1 to 16 (BIP 350). */
function readSegwit(text: string): string | null {
  const address = text.toLowerCase();
  const [, digit] = segwit.exec(address) ?? [];
  if (digit === undefined || text.length > longestSegwit) return null;
  const version = digits.indexOf(digit);
  // Both cases in one address are forbidden; decoding the text as it stands sees to that.
  const decoded = (version === 0 ? bech32 : bech32m).decodeUnsafe(text, longestSegwit);
  if (version < 0 || version > 16 || decoded === undefined) return null;
  const program = bech32.fromWordsUnsafe(decoded.words.slice(1));
  return program && isProgramLength(program.length, version) ? address : null;
}

function isProgramLength(bytes: number, version: number): boolean {
  return version === 0 ? bytes === 20 || bytes === 32 : bytes >= 2 && bytes <= 40;
}
