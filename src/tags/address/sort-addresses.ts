import { type AddressList, compareV6 } from "./address-list.js";
import { sortV6 } from "./sort-v6.js";

/** Makes a list of addresses in any order; sorts in place, so that nothing is held twice. */
export function sortAddresses(v4: Uint32Array, v6: Uint32Array): AddressList {
  v4.sort();
  sortV6(v6);
  return { v4: v4.subarray(0, distinctV4(v4)), v6: v6.subarray(0, distinctV6(v6) * 4) };
}

/** Moves one of each to the front and says how many they are. */
function distinctV4(sorted: Uint32Array): number {
  let length = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) sorted[length++] = sorted[at]!;
  }
  return length;
}

function distinctV6(sorted: Uint32Array): number {
  let length = 0;
  for (let at = 0; at < sorted.length / 4; at++) {
    if (length > 0 && compareV6(sorted, at, sorted, length - 1) === 0) continue;
    if (at !== length) sorted.copyWithin(length * 4, at * 4, at * 4 + 4);
    length++;
  }
  return length;
}
