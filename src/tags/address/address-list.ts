/**
 * Distinct IP addresses in numerical order, IPv4 before IPv6, in 4 and 16 bytes an address: a list
 * of millions is a few tens of megabytes.
 *
 * An IPv4-mapped address (`::ffff:192.0.2.1`) is the IPv6 address as which it was given.
 */
export interface AddressList {
  /** Ascending; one word of 32 bits an address. */
  readonly v4: Uint32Array;
  /** Ascending; four words of 32 bits an address, the most significant first. */
  readonly v6: Uint32Array;
}

export const noAddresses: AddressList = { v4: new Uint32Array(0), v6: new Uint32Array(0) };

/** How many addresses there are. */
export function sizeOf({ v4, v6 }: AddressList): number {
  return v4.length + v6.length / 4;
}

/** Below zero, zero or above as the address at `i` of one list is below, equal to or above that at `j`. */
export function compareV6(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let word = 0; word < 4; word++) {
    const difference = a[i * 4 + word]! - b[j * 4 + word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether both parts ascend, each address once. */
export function isAscending({ v4, v6 }: AddressList): boolean {
  for (let at = 1; at < v4.length; at++) {
    if (v4[at - 1]! >= v4[at]!) return false;
  }
  for (let at = 1; at < v6.length / 4; at++) {
    if (compareV6(v6, at - 1, v6, at) >= 0) return false;
  }
  return true;
}

/** How many IPv4-mapped addresses (RFC 4291 section 2.5.5.2) are among the IPv6 ones. */
export function countMapped({ v6 }: AddressList): number {
  let count = 0;
  for (let at = 0; at < v6.length; at += 4) {
    if (v6[at] === 0 && v6[at + 1] === 0 && v6[at + 2] === 0xffff) count++;
  }
  return count;
}
