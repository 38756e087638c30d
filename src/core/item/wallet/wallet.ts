import { keccak_256 } from "@noble/hashes/sha3.js";
import { base58xmr } from "@scure/base";
import { readBitcoin } from "./bitcoin.js";

/**
 * Reads the address of a Bitcoin, Litecoin, Ethereum or Monero wallet (main networks), its checksum
 * verified where the format has one. A payment URI (`bitcoin:…?amount=1`, BIP 21 and its likes)
 * gives its address.
 *
 * @returns the normal form (bech32 in lower case, Ethereum in the mixed case of EIP-55, base58 as
 *   it stands), or null when the text is no such address
 */
export function readWallet(text: string): string | null {
  const address = addressOf(text);
  if (address.length < shortest || address.length > longest || !alphanumeric.test(address)) {
    return null;
  }
  return readEthereum(address) ?? readBitcoin(address) ?? readMonero(address);
}

/** True when the text has the form of a wallet address, whatever its checksum says. */
export function looksLikeWallet(text: string): boolean {
  return forms.test(addressOf(text));
}

const shortest = 26;
/** A Monero address with an integrated payment identifier. */
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
 * Reads an Ethereum address and gives it in the mixed case of EIP-55. Mixed case in the text is a
 * checksum and must match; all lower or all upper case carries none.
 */
function readEthereum(text: string): string | null {
  if (!/^0[xX][\da-fA-F]{40}$/.test(text)) return null;
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const checksummed = mixCase(lower);
  const hasChecksum = digits !== lower && digits !== digits.toUpperCase();
  return hasChecksum && digits !== checksummed ? null : `0x${checksummed}`;
}

/** EIP-55: a letter is upper case where the same nibble of the hash of the text is 8 or more. */
function mixCase(lower: string): string {
  const hash = Buffer.from(keccak_256(Buffer.from(lower, "ascii"))).toString("hex");
  return lower.replaceAll(/[a-f]/g, (letter, at: number) =>
    hash.charAt(at) >= "8" ? letter.toUpperCase() : letter,
  );
}

const moneroForm = /^[48][1-9A-HJ-NP-Za-km-z]{94}(?:[1-9A-HJ-NP-Za-km-z]{11})?$/;
const moneroChecksum = 4;
/** Bytes by network byte: two keys of 32 bytes and a checksum, and an identifier of 8 bytes in 19. */
const moneroLengths: ReadonlyMap<number | undefined, number> = new Map([
  [18, 69],
  [42, 69],
  [19, 77],
]);

/**
 * Reads a Monero address of the main network: standard (`4…`), with an integrated payment
 * identifier (`4…`, longer) and subaddress (`8…`), by its base58 in blocks and Keccak checksum.
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
