import { keccak_256 } from "@noble/hashes/sha3.js";

/**
 * Reads an Ethereum address and gives it in the mixed case of EIP-55. Mixed case in the text is a
 * checksum and must match; all lower or all upper case carries none.
 */
export function readEthereum(text: string): string | null {
  if (!form.test(text)) return null;
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const checksummed = mixCase(lower);
  const hasChecksum = digits !== lower && digits !== digits.toUpperCase();
  return hasChecksum && digits !== checksummed ? null : `0x${checksummed}`;
}

const form = /^0[xX][\da-fA-F]{40}$/;

/** EIP-55: a letter is upper case where the same nibble of the hash of the text is 8 or more. */
function mixCase(lower: string): string {
  const hash = keccak_256(Buffer.from(lower, "ascii"));
  let mixed = "";
  for (let index = 0; index < lower.length; index++) {
    const byte = hash[index >> 1] ?? 0;
    const nibble = index % 2 === 0 ? byte >> 4 : byte & 15;
    mixed += nibble >= 8 ? lower.charAt(index).toUpperCase() : lower.charAt(index);
  }
  return mixed;
}
