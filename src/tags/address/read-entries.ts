import { parseV4, parseV6 } from "./parse-address.js";

/** Addresses as they came, in no order; as words like those of an `AddressList`. */
export interface ReadAddresses {
  readonly v4: Uint32Array;
  readonly v6: Uint32Array;
}

/**
 * Reads the entries of a page.
 *
 * @returns the addresses, or the place of the first entry that is none, from 0
 */
export function readEntries(entries: readonly string[]): ReadAddresses | number {
  const v4 = new Uint32Array(entries.length);
  let v6 = new Uint32Array(0);
  let countV4 = 0;
  let countV6 = 0;
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at]!;
    const address = parseV4(entry);
    if (address >= 0) {
      v4[countV4++] = address;
      continue;
    }
    if (v6.length === 0) v6 = new Uint32Array((entries.length - at) * 4);
    if (!parseV6(entry, v6, countV6 * 4)) return at;
    countV6++;
  }
  return { v4: v4.subarray(0, countV4), v6: v6.subarray(0, countV6 * 4) };
}
