import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { base32nopad, base58, base58xmr, base58xrp, type BytesCoder } from "@scure/base";
import { readBech32, readCashAddr } from "./bech32-address.js";

/**
 * Reads a wallet address and verifies its checksum: Base58Check, Bech32(m), CashAddr, Stellar, Monero
 * or Ethereum. A payment URI (`bitcoin:…?amount=1`, BIP 21 and similar) yields its address.
 *
 * @param labelled true if the input says that this is a wallet; then formats without a checksum count
 * @returns the normal form (bech32 in lower case, CashAddr with its prefix, Ethereum in EIP-55 mixed
 *   case, others unchanged), or null if the text is not such an address
 */
export function readWallet(text: string, labelled: boolean): string | null {
  const address = addressOf(text);
  if (address.length < shortest || address.length > longest || !form.test(address)) return null;
  return (
    readEthereum(address) ??
    readBech32(address) ??
    readBase58check(address) ??
    readMonero(address) ??
    readStellar(address) ??
    readCashAddr(address) ??
    (labelled ? readSolana(address) : null)
  );
}

/** True if the text has the form of a wallet address, whatever its checksum. */
export function looksLikeWallet(text: string): boolean {
  return forms.test(addressOf(text));
}

const shortest = 25;
/** Cardano's base addresses on a test network have 108 characters. */
const longest = 128;
const form = /^(?:[a-z]+:)?[\da-z]+$/i;
const paymentUri =
  /^(?:bitcoin|litecoin|dogecoin|dash|zcash|ethereum|monero|tron|ripple|stellar|solana|cardano):/i;
const query = /\?.*$/s;
const forms =
  /^(?:0[xX][\da-fA-F]{40}|(?:bc|tb|ltc)1[\da-z]{20,80}|[13DLMT][1-9A-HJ-NP-Za-km-z]{25,34}|[48][1-9A-HJ-NP-Za-km-z]{94}|G[A-Z2-7]{55}|bitcoincash:[qp][\da-z]{41})$/;

function addressOf(text: string): string {
  if (!text.includes(":")) return text;
  return text.replace(paymentUri, "").replace(query, "");
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
  const bytes = decode(text, base58xmr);
  if (bytes === null || moneroLengths.get(bytes[0]) !== bytes.length) return null;
  const checksum = keccak_256(bytes.subarray(0, -checksumBytes)).subarray(0, checksumBytes);
  return Buffer.compare(checksum, bytes.subarray(-checksumBytes)) === 0 ? text : null;
}

/**
 * Reads a Stellar address: an account (`G…`), a multiplexed account (`M…`) or a contract (`C…`).
 *
 * @see https://github.com/stellar/stellar-protocol/blob/master/ecosystem/sep-0023.md
 * @returns the address unchanged; null if it is none, or its checksum is wrong
 */
function readStellar(text: string): string | null {
  if (!stellarForm.test(text)) return null;
  const view = Buffer.from(decode(text, base32nopad) ?? []);
  if (!stellarVersions.has(view[0])) return null;
  return crc16(view.subarray(0, -2)) === view.readUInt16LE(view.length - 2) ? text : null;
}

/** Not `S…`, which is a secret. */
const stellarForm = /^(?:[GC][A-Z2-7]{55}|M[A-Z2-7]{68})$/;
const stellarVersions: ReadonlySet<number | undefined> = new Set([6 << 3, 2 << 3, 12 << 3]);

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

/**
 * Reads a Base58Check address with a payload of 20 or 32 bytes behind its version: Bitcoin, Litecoin,
 * Dogecoin, Dash, Zcash, Tron, Tezos and others; Ripple has its own order of the alphabet.
 *
 * @returns the address unchanged, or null if it is not one or its checksum is wrong
 */
function readBase58check(text: string): string | null {
  if (!lengths.test(text) || !upperCase.test(text) || !lowerCase.test(text)) return null;
  return hasPayload(text, base58) || (text.startsWith("r") && hasPayload(text, base58xrp))
    ? text
    : null;
}

/** Reads a Solana address: a public key of 32 bytes without a checksum. */
function readSolana(text: string): string | null {
  return solana.test(text) && decode(text, base58)?.length === 32 ? text : null;
}

/** 25 to 27 bytes (version, hash, checksum), or 37 to 39. Each leading zero byte is one digit. */
const lengths = /^(?:[1-9A-HJ-NP-Za-km-z]{25,37}|[1-9A-HJ-NP-Za-km-z]{50,54})$/;
/** What has one case only is another hash or a word; not one address in a million does. */
const upperCase = /[A-Z]/;
const lowerCase = /[a-z]/;
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
