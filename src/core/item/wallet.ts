import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import {
  base32nopad,
  base58,
  base58xmr,
  base58xrp,
  type BytesCoder,
  bech32,
  bech32m,
} from "@scure/base";

/**
 * Reads a wallet address and verifies its checksum: Base58Check, Bech32(m), CashAddr, Stellar, Monero
 * or Ethereum. A payment URI (`bitcoin:…?amount=1`, BIP 21 and similar) yields its address.
 *
 * @param labelled true if the input says that this is a wallet; then formats without a checksum count
 * @returns the normal form (bech32 in lower case, CashAddr with its prefix, Ethereum in EIP-55 mixed
 *   case, others unchanged), or null if the text is not such an address
 */
export function readWallet(text: string, labelled: boolean): string | null {
  if (text.length < shortest || !form.test(text)) return null;
  const address = addressOf(text);
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
const form = /^(?:[a-z]+:){0,2}[\da-z]+(?:\?|$)/i;
const paymentUri =
  /^(?:bitcoin|litecoin|dogecoin|dash|zcash|ethereum|monero|tron|ripple|stellar|solana|cardano):/i;
const query = /\?.*$/s;
const forms =
  /^(?:(?:bc|tb|ltc)1[\da-z]{20,80}|[13DLMT][1-9A-HJ-NP-Za-km-z]{25,34}|[48][1-9A-HJ-NP-Za-km-z]{94}|G[A-Z2-7]{55}|bitcoincash:[qp][\da-z]{41})$/;

function addressOf(text: string): string {
  if (!text.includes(":")) return text;
  return text.replace(paymentUri, "").replace(query, "");
}

/** Reads an Ethereum address and returns it in EIP-55 mixed case, whatever the case of the text. */
function readEthereum(text: string): string | null {
  return /^0x[\da-f]{40}$/i.test(text) ? `0x${mixCase(text.slice(2).toLowerCase())}` : null;
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
  return endsInChecksum(bytes, keccak_256) ? text : null;
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
  return endsInChecksum(bytes, (data) => sha256(sha256(data)));
}

function endsInChecksum(bytes: Uint8Array, hash: (data: Uint8Array) => Uint8Array): boolean {
  const checksum = hash(bytes.subarray(0, -checksumBytes)).subarray(0, checksumBytes);
  return Buffer.compare(checksum, bytes.subarray(-checksumBytes)) === 0;
}

function decode(text: string, alphabet: BytesCoder): Uint8Array | null {
  try {
    return alphabet.decode(text);
  } catch {
    return null;
  }
}

/**
 * Reads a Bech32 or Bech32m address whose prefix SLIP-173 registers. Bitcoin's and Litecoin's must be
 * a segregated-witness program: bech32 for version 0 (BIP 173), bech32m for 1 to 16 (BIP 350).
 *
 * @returns the address in lower case; null if it is none, or its checksum is wrong
 */
function readBech32(text: string): string | null {
  if (!segwitForm.test(text)) return null;
  const address = text.toLowerCase();
  const prefix = address.slice(0, address.lastIndexOf("1"));
  if (!prefixes.has(prefix)) return null;
  // Decoding the text in its own case rejects mixed case, which both BIPs forbid.
  const plain = bech32.decodeUnsafe(text, longestSegwit);
  const modified = plain === undefined ? bech32m.decodeUnsafe(text, longestSegwit) : undefined;
  const words = (plain ?? modified)?.words;
  if (words === undefined) return null;
  if (witnessPrefixes.has(prefix)) {
    return isWitness(text, words, plain !== undefined) ? address : null;
  }
  return (bech32.fromWordsUnsafe(words)?.length ?? 0) >= shortestPayload ? address : null;
}

const segwitForm = /^[a-z]{1,16}1[\dac-hj-np-z]{26,110}$/i;
const longestSegwit = 128;
const longestWitness = 90;
const shortestPayload = 20;
const witnessPrefixes = new Set(["bc", "tb", "bcrt", "ltc", "tltc", "rltc"]);

function isWitness(text: string, words: readonly number[], isPlain: boolean): boolean {
  const [version = Number.NaN] = words;
  const program = bech32.fromWordsUnsafe(words.slice(1))?.length ?? 0;
  if (text.length > longestWitness || version > 16 || isPlain !== (version === 0)) return false;
  return version === 0 ? program === 20 || program === 32 : program >= 2 && program <= 40;
}

/** https://github.com/satoshilabs/slips/blob/master/slip-0173.md, and `addr` of Cardano (CIP 19). */
const prefixes: ReadonlySet<string> = new Set(
  (
    "addr agoric akash atp atx althea arkh bare tbare bart band bm bt br bnb bc tb bcrt bca tbca bcart btg " +
    "tbtg btp tbtp pq tq pqrt btcp tbtcp regbtcp btx tbtx bitsong bz tz rz blacknet rblacknet certik " +
    "cosmos cpu tcpu rcpu cp cpt cpr cro tcro cyber decentr desmos dgb dgbt dgbrt emoney evmos fetch " +
    "fc tf fcrt gitopia grs tgrs grsrt hs ts rs inj io it iris juno kava ki kira pla plt ltc tltc " +
    "rltc panacea micro mona tmona rmona moneta my tm nc tn ncrt oasis ex o to ocrt osmo xpc tpc " +
    "persistence pkt tpk lat lax pb tp qrl tqrl qrlrt rc tr rcrt regen ric tric rric secret sent sif " +
    "somm stars star str swth sugar tugar rugar susu tutu ruru sys tsys scrt terra tgrade thor ue " +
    "tue uert vtc tvtc via tvia vips tvips yee tyee zen tzn zil tzil"
  ).split(" "),
);

/**
 * Reads a CashAddr address of Bitcoin Cash or eCash, with or without prefix.
 *
 * @see https://github.com/bitcoincashorg/bitcoincash.org/blob/master/spec/cashaddr.md
 * @returns the address in lower case with its prefix; null if it is none
 */
function readCashAddr(text: string): string | null {
  const [, prefix, digits] = cashForm.exec(text) ?? [];
  if (digits === undefined || (text !== text.toLowerCase() && text !== text.toUpperCase())) {
    return null;
  }
  const words = Array.from(digits.toLowerCase(), (digit) => alphabet.indexOf(digit));
  const candidates = prefix === undefined ? bare : [prefix.toLowerCase()];
  const found = candidates.find((name) => cashChecksum(name, words) === 0n);
  if (found === undefined || !isCashPayload(words.slice(0, -checksumWords))) return null;
  return `${found}:${digits.toLowerCase()}`;
}

const cashForm =
  /^(?:(bitcoincash|bchtest|bchreg|ecash|ectest|simpleledger):)?([qpzry9x8][ac-hj-np-z02-9]{41,111})$/i;
const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const bare = ["bitcoincash", "ecash"];
const checksumWords = 8;
/** Bytes of the hash by the low bits of the version byte. */
const hashBytes = [20, 24, 28, 32, 40, 48, 56, 64];

function isCashPayload(words: readonly number[]): boolean {
  const [version = 0x80, ...hash] = bech32.fromWordsUnsafe([...words]) ?? [];
  return version < 0x80 && hash.length === hashBytes[version & 7];
}

const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n];

function cashChecksum(prefix: string, words: readonly number[]): bigint {
  let checksum = 1n;
  for (const word of [...Array.from(prefix, (char) => char.charCodeAt(0) & 31), 0, ...words]) {
    const top = checksum >> 35n;
    checksum = ((checksum & 0x07ffffffffn) << 5n) ^ BigInt(word);
    for (const [bit, generator] of generators.entries()) {
      if ((top >> BigInt(bit)) & 1n) checksum ^= generator;
    }
  }
  return checksum ^ 1n;
}
