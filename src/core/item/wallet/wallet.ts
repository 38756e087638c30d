import { keccak_256 } from "@noble/hashes/sha3.js";
import { base58xmr, bech32, bech32m, createBase58check } from "@scure/base";
import { sha256 } from "@noble/hashes/sha2.js";

/**
 * Reads a Bitcoin, Litecoin, Ethereum or Monero address (main networks) and verifies its checksum if
 * the format has one. A payment URI (`bitcoin:…?amount=1`, BIP 21 and similar) yields its address.
 *
 * @returns the normal form (bech32 in lower case, Ethereum in EIP-55 mixed case, base58 unchanged),
 *   or null if the text is not such an address
 */
export function readWallet(text: string): string | null {
  const address = addressOf(text);
  if (address.length < shortest || address.length > longest || !alphanumeric.test(address)) {
    return null;
  }
  return readEthereum(address) ?? readBitcoin(address) ?? readMonero(address);
}

/** True if the text has the form of a wallet address, whatever its checksum. */
export function looksLikeWallet(text: string): boolean {
  return forms.test(addressOf(text));
}

const shortest = 26;
/** A Monero address with an integrated payment ID. */
const longest = 106;
const alphanumeric = /^[\da-zA-Z]+$/;
const paymentUri = /^(?:bitcoin|litecoin|ethereum|monero):/i;
const forms =
  /^(?:0[xX][\da-fA-F]{40}|(?:bc1|ltc1)[\da-z]{20,80}|[13LM][1-9A-HJ-NP-Za-km-z]{25,34}|[48][1-9A-HJ-NP-Za-km-z]{94})$/;

function addressOf(text: string): string {
  if (!paymentUri.test(text)) return text;
  const query = text.indexOf("?");
  return text.slice(text.indexOf(":") + 1, query < 0 ? undefined : query);
}

/**
 * Reads an Ethereum address and returns it in EIP-55 mixed case. Mixed case in the text is a checksum
 * and must match; all lower or all upper case carries none.
 */
function readEthereum(text: string): string | null {
  if (!/^0[xX][\da-fA-F]{40}$/.test(text)) return null;
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const checksummed = mixCase(lower);
  const hasChecksum = digits !== lower && digits !== digits.toUpperCase();
  return hasChecksum && digits !== checksummed ? null : `0x${checksummed}`;
}

/** EIP-55: a letter is upper case if the same nibble of the text's hash is 8 or more. */
function mixCase(lower: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(lower, "ascii"))).toString("hex");
  return lower.replaceAll(/[a-f]/g, (letter, at: number) =>
    hash.charAt(at) >= "8" ? letter.toUpperCase() : letter,
  );
}

const moneroForm = /^[48][1-9A-HJ-NP-Za-km-z]{94}(?:[1-9A-HJ-NP-Za-km-z]{11})?$/;
const moneroChecksum = 4;
/** Length by network byte: two 32-byte keys and a checksum; 19 adds an 8-byte payment ID. */
const moneroLengths: ReadonlyMap<number | undefined, number> = new Map([
  [18, 69],
  [42, 69],
  [19, 77],
]);

/**
 * Reads a Monero address of the main network: standard (`4…`), with integrated payment ID (`4…`,
 * longer) or subaddress (`8…`). Verifies the Keccak checksum.
 */
function readMonero(text: string): string | null {
  if (!moneroForm.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base58xmr.decode(text);
  } catch {
    return null;
  }
  if (moneroLengths.get(bytes[0]) !== bytes.length) return null;
  const checksum = keccak_256(bytes.subarray(0, -moneroChecksum)).subarray(0, moneroChecksum);
  return Buffer.compare(checksum, bytes.subarray(-moneroChecksum)) === 0 ? text : null;
}

/**
 * Reads a Bitcoin or Litecoin address of the main network: `1…`, `3…`, `L…` and `M…` (base58check),
 * `bc1…` and `ltc1…` (bech32). Litecoin's old script addresses (`3…`) are identical to Bitcoin's.
 *
 * @returns bech32 in lower case, base58 unchanged; null if it is neither or its checksum is wrong
 */
function readBitcoin(text: string): string | null {
  return readSegwit(text) ?? readBase58check(text);
}

/** 25 bytes (version, hash, checksum); each leading zero byte is one digit. */
const base58check = /^[13LM][1-9A-HJ-NP-Za-km-z]{25,34}$/;
const coder = createBase58check(sha256);
const payloadLength = 21;
/** Version bytes for public key hash and script hash: Bitcoin's, then Litecoin's. */
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
/** The bech32 alphabet; the index of the first digit after the separator is the witness version. */
const digits = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/** A segregated-witness address: bech32 for version 0 (BIP 173), bech32m for 1 to 16 (BIP 350). */
function readSegwit(text: string): string | null {
  const address = text.toLowerCase();
  const [, digit] = segwit.exec(address) ?? [];
  if (digit === undefined || text.length > longestSegwit) return null;
  const version = digits.indexOf(digit);
  // Decoding the text in its own case rejects mixed case, which both BIPs forbid.
  const decoded = (version === 0 ? bech32 : bech32m).decodeUnsafe(text, longestSegwit);
  if (version < 0 || version > 16 || decoded === undefined) return null;
  const program = bech32.fromWordsUnsafe(decoded.words.slice(1));
  return program && isProgramLength(program.length, version) ? address : null;
}

function isProgramLength(bytes: number, version: number): boolean {
  return version === 0 ? bytes === 20 || bytes === 32 : bytes >= 2 && bytes <= 40;
}
