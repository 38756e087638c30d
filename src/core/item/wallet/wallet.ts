import { readBitcoin } from "./bitcoin.js";
import { readEthereum } from "./ethereum.js";
import { readLitecoin } from "./litecoin.js";
import { readMonero } from "./monero.js";

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
  return (
    readEthereum(address) ?? readBitcoin(address) ?? readLitecoin(address) ?? readMonero(address)
  );
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
