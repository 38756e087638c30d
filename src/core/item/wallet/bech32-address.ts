import { bech32, bech32m } from "@scure/base";

/**
 * Reads a Bech32 or Bech32m address whose prefix SLIP-173 registers. Bitcoin's and Litecoin's must be
 * a segregated-witness program: bech32 for version 0 (BIP 173), bech32m for 1 to 16 (BIP 350).
 *
 * @returns the address in lower case; null if it is none, or its checksum is wrong
 */
export function readBech32(text: string): string | null {
  if (!form.test(text)) return null;
  const address = text.toLowerCase();
  const prefix = address.slice(0, address.lastIndexOf("1"));
  if (!prefixes.has(prefix)) return null;
  // Decoding the text in its own case rejects mixed case, which both BIPs forbid.
  const plain = bech32.decodeUnsafe(text, longest);
  const modified = plain === undefined ? bech32m.decodeUnsafe(text, longest) : undefined;
  const words = (plain ?? modified)?.words;
  if (words === undefined) return null;
  if (witnessPrefixes.has(prefix)) {
    return isWitness(text, words, plain !== undefined) ? address : null;
  }
  return (bech32.fromWordsUnsafe(words)?.length ?? 0) >= shortestPayload ? address : null;
}

const form = /^[a-z]{1,16}1[\dac-hj-np-z]{26,110}$/i;
const longest = 128;
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
export function readCashAddr(text: string): string | null {
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
