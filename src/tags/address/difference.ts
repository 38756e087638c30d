import { type AddressList, compareV6, noAddresses, sizeOf } from "./address-list.js";

/** The addresses of one list that are not in another. */
export function difference(list: AddressList, other: AddressList): AddressList {
  if (sizeOf(other) === 0) return list;
  if (sizeOf(list) === 0) return noAddresses;
  const v4 = new Uint32Array(eachOnlyV4(list.v4, other.v4, null));
  eachOnlyV4(list.v4, other.v4, v4);
  const v6 = new Uint32Array(eachOnlyV6(list.v6, other.v6, null) * 4);
  eachOnlyV6(list.v6, other.v6, v6);
  return { v4, v6 };
}

/** Counts what only `list` has and, where `into` is given, puts it there. */
function eachOnlyV4(list: Uint32Array, other: Uint32Array, into: Uint32Array | null): number {
  let count = 0;
  let j = 0;
  for (let i = 0; i < list.length; i++) {
    const address = list[i]!;
    while (j < other.length && other[j]! < address) j++;
    if (j < other.length && other[j] === address) continue;
    if (into) into[count] = address;
    count++;
  }
  return count;
}

function eachOnlyV6(list: Uint32Array, other: Uint32Array, into: Uint32Array | null): number {
  const length = other.length / 4;
  let count = 0;
  let j = 0;
  for (let i = 0; i < list.length / 4; i++) {
    while (j < length && compareV6(other, j, list, i) < 0) j++;
    if (j < length && compareV6(other, j, list, i) === 0) continue;
    if (into) into.set(list.subarray(i * 4, i * 4 + 4), count * 4);
    count++;
  }
  return count;
}
