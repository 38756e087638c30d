import { createReadStream } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import { readIpv6, v4Number, v6Number, v6Text } from "../../core/item/ip.js";

/**
 * IP addresses as numbers, 4 bytes each for IPv4. A sorted list has them ascending and distinct,
 * IPv4 before IPv6. An IPv4-mapped address (`::ffff:192.0.2.1`) stays the IPv6 address as given.
 */
export interface AddressList {
  readonly v4: Uint32Array;
  readonly v6: readonly bigint[];
}

export function addressCount({ v4, v6 }: AddressList): number {
  return v4.length + v6.length;
}

/**
 * Parses the entries of a page: dotted quads without leading zeros, and IPv6 addresses in any form
 * of RFC 4291 section 2.2, but without a zone (`%eth0`).
 *
 * @returns the addresses in order of arrival, or the index of the first invalid entry
 */
export function readEntries(entries: readonly string[]): AddressList | number {
  const v4: number[] = [];
  const v6: bigint[] = [];
  for (const [at, entry] of entries.entries()) {
    if (isIPv4(entry)) v4.push(v4Number(entry));
    else if (isIPv6(entry) && !entry.includes("%")) v6.push(v6Number(readIpv6(entry) ?? entry));
    else return at;
  }
  return { v4: Uint32Array.from(v4), v6 };
}

/** The addresses of all pages, sorted and distinct. */
export function sortedList(pages: readonly AddressList[]): AddressList {
  const v4 = new Uint32Array(pages.reduce((sum, page) => sum + page.v4.length, 0));
  let length = 0;
  for (const page of pages) {
    v4.set(page.v4, length);
    length += page.v4.length;
  }
  const v6 = pages.flatMap((page) => page.v6).sort((a, b) => (a < b ? -1 : Number(a > b)));
  return { v4: selectV4(v4.sort(), isNew()), v6: v6.filter(isNew()) };
}

/** Reads a file with one address per line; null if it cannot be read or does not have `total` lines. */
export async function readAddresses(path: string, total: number): Promise<AddressList | null> {
  const pages: AddressList[] = [];
  let rest = "";
  try {
    for await (const text of createReadStream(path, "utf8")) {
      const lines = (rest + String(text)).split("\n");
      rest = lines.pop()!;
      const page = readEntries(lines);
      if (typeof page === "number") return null;
      pages.push(page);
    }
  } catch {
    return null;
  }
  const list = sortedList(pages);
  return rest === "" && addressCount(list) === total ? list : null;
}

/** What a sorted list has and another one lacks. */
export function difference(list: AddressList, other: AddressList): AddressList {
  return {
    v4: selectV4(list.v4, isLackingIn(other.v4)),
    v6: list.v6.filter(isLackingIn(other.v6)),
  };
}

/** The addresses of each family as text: dotted quads, and the form of RFC 5952. */
export function addressTexts({ v4, v6 }: AddressList): [family: 4 | 6, texts: Iterable<string>][] {
  return [
    [4, mapped(v4, v4Text)],
    [6, mapped(v6, v6Text)],
  ];
}

export function v4Text(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** Like `filter`, which would box every number. */
export function selectV4(v4: Uint32Array, keeps: (address: number) => boolean): Uint32Array {
  const kept = new Uint32Array(v4.length);
  let length = 0;
  for (const address of v4) if (keeps(address)) kept[length++] = address;
  return kept.subarray(0, length);
}

/** Whether an address of a sorted list differs from the one before. */
function isNew(): (address: number | bigint) => boolean {
  let last: number | bigint | null = null;
  return (address) => {
    const differs = address !== last;
    last = address;
    return differs;
  };
}

/** Whether a sorted list lacks an address; ask in ascending order. */
function isLackingIn<T extends number | bigint>(list: ArrayLike<T>): (address: T) => boolean {
  let at = 0;
  return (address) => {
    while (list[at]! < address) at++;
    return list[at] !== address;
  };
}

function* mapped<T>(values: Iterable<T>, textOf: (value: T) => string): Generator<string> {
  for (const value of values) yield textOf(value);
}
