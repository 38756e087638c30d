import { bech32, bech32m } from "@scure/base";

/**
 * Reads a segregated-witness address of the network with this prefix (`bc`, `ltc`): bech32 for
 * version 0 (BIP 173), bech32m for 1 to 16 (BIP 350).
 *
 * @returns the address in lower case, or null when it is none or its checksum does not match
 */
export function readSegwit(text: string, prefix: string): string | null {
  if (text.length > longest) return null;
  const address = text.toLowerCase();
  if (!address.startsWith(`${prefix}1`)) return null;
  // Both cases in one address are forbidden; decoding the text as it stands sees to that.
  const version = versions.indexOf(address.charAt(prefix.length + 1));
  const decoded = (version === 0 ? bech32 : bech32m).decodeUnsafe(text, longest);
  if (version < 0 || version > 16 || decoded === undefined) return null;
  const program = bech32.fromWordsUnsafe(decoded.words.slice(1));
  return program && isProgramLength(program.length, version) ? address : null;
}

const longest = 90;
/** The bech32 alphabet; the place of the first digit behind the separator is the witness version. */
const versions = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

function isProgramLength(bytes: number, version: number): boolean {
  return version === 0 ? bytes === 20 || bytes === 32 : bytes >= 2 && bytes <= 40;
}
