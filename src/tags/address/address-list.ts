import { isIPv4, isIPv6 } from "node:net";
import { readIpv6 } from "../../core/item/ip.js";

/**
 * Distinct IP addresses in numerical order, IPv4 before IPv6. Takes 4 and 16 bytes per address, so
 * a list of millions fits in tens of megabytes.
 *
 * An IPv4-mapped address (`::ffff:192.0.2.1`) stays the IPv6 address as given.
 */
export interface AddressList {
  /** Ascending; one 32-bit word per address. */
  readonly v4: Uint32Array;
  /** Ascending; four 32-bit words per address, most significant first. */
  readonly v6: Uint32Array;
}

export const widths = { v4: 1, v6: 4 } as const;

export const noAddresses: AddressList = { v4: new Uint32Array(0), v6: new Uint32Array(0) };

export function sizeOf({ v4, v6 }: AddressList): number {
  return v4.length + v6.length / widths.v6;
}

/** A view of the bytes of a word array, in the machine's byte order. */
export function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** Builds a list from addresses in any order. Sorts in place, to avoid a second copy in memory. */
export function sortAddresses(v4: Uint32Array, v6: Uint32Array): AddressList {
  v4.sort();
  sortV6(v6);
  return { v4: distinct(v4, widths.v4), v6: distinct(v6, widths.v6) };
}

export function isAscending({ v4, v6 }: AddressList): boolean {
  return ascends(v4, widths.v4) && ascends(v6, widths.v6);
}

export function difference(list: AddressList, other: AddressList): AddressList {
  return {
    v4: onlyIn(list.v4, other.v4, widths.v4),
    v6: onlyIn(list.v6, other.v6, widths.v6),
  };
}

/** Number of IPv4-mapped addresses (RFC 4291 section 2.5.5.2) in the list. */
export function countMapped({ v6 }: AddressList): number {
  let count = 0;
  for (let at = 0; at < v6.length; at += widths.v6) {
    if (v6[at] === 0 && v6[at + 1] === 0 && v6[at + 2] === 0xffff) count++;
  }
  return count;
}

/** Compares the address at `i` in `a` with the one at `j` in `b`, like a sort callback. */
function compare(a: Uint32Array, i: number, b: Uint32Array, j: number, width: number): number {
  for (let word = 0; word < width; word++) {
    const order = a[i * width + word]! - b[j * width + word]!;
    if (order !== 0) return order;
  }
  return 0;
}

/** Heapsort: fast enough for millions of addresses, and needs no second array. */
function sortV6(words: Uint32Array): void {
  const length = words.length / widths.v6;
  for (let root = length >>> 1; root-- > 0;) sink(words, root, length);
  for (let end = length - 1; end > 0; end--) {
    swap(words, 0, end);
    sink(words, 0, end);
  }
}

/** Sifts the address at `root` down to its place in the heap. */
function sink(words: Uint32Array, root: number, length: number): void {
  for (let parent = root; ;) {
    let child = 2 * parent + 1;
    if (child >= length) return;
    if (child + 1 < length && compare(words, child, words, child + 1, widths.v6) < 0) child++;
    if (compare(words, parent, words, child, widths.v6) >= 0) return;
    swap(words, parent, child);
    parent = child;
  }
}

function swap(words: Uint32Array, i: number, j: number): void {
  for (let word = 0; word < widths.v6; word++) {
    const held = words[i * widths.v6 + word]!;
    words[i * widths.v6 + word] = words[j * widths.v6 + word]!;
    words[j * widths.v6 + word] = held;
  }
}

/** Moves one copy of each address to the front and returns that part. */
function distinct(sorted: Uint32Array, width: number): Uint32Array {
  let length = 0;
  for (let at = 0; at < sorted.length / width; at++) {
    if (length > 0 && compare(sorted, at, sorted, length - 1, width) === 0) continue;
    if (at !== length) sorted.copyWithin(length * width, at * width, (at + 1) * width);
    length++;
  }
  return sorted.subarray(0, length * width);
}

function ascends(words: Uint32Array, width: number): boolean {
  for (let at = 1; at < words.length / width; at++) {
    if (compare(words, at - 1, words, at, width) >= 0) return false;
  }
  return true;
}

function onlyIn(words: Uint32Array, other: Uint32Array, width: number): Uint32Array {
  if (other.length === 0) return words;
  const found = new Uint32Array(words.length);
  let length = 0;
  for (let i = 0, j = 0; i < words.length / width; i++) {
    while (j < other.length / width && compare(other, j, words, i, width) < 0) j++;
    if (j < other.length / width && compare(other, j, words, i, width) === 0) continue;
    found.set(words.subarray(i * width, (i + 1) * width), length * width);
    length++;
  }
  return found.slice(0, length * width);
}

/** Addresses in order of arrival, as words like those of an `AddressList`. */
export interface ReadAddresses {
  readonly v4: Uint32Array;
  readonly v6: Uint32Array;
}

/**
 * Parses the entries of a page: dotted quads without leading zeros, and IPv6 addresses in any form
 * of RFC 4291 section 2.2, but without a zone (`%eth0`).
 *
 * @returns the addresses, or the index of the first invalid entry
 */
export function readEntries(entries: readonly string[]): ReadAddresses | number {
  const v4: number[] = [];
  const v6: number[] = [];
  for (const [at, entry] of entries.entries()) {
    if (isIPv4(entry)) v4.push(quadWord(entry));
    else if (isIPv6(entry) && !entry.includes("%")) v6.push(...v6Words(entry));
    else return at;
  }
  return { v4: new Uint32Array(v4), v6: new Uint32Array(v6) };
}

function quadWord(quad: string): number {
  let address = 0;
  let octet = 0;
  for (let at = 0; at < quad.length; at++) {
    const digit = quad.charCodeAt(at) - zero;
    if (digit >= 0) octet = octet * 10 + digit;
    else [address, octet] = [address * 256 + octet, 0];
  }
  return address * 256 + octet;
}

/** Parses colon-separated groups of 16 bits. A double colon stands for the missing zeros. */
function v6Words(text: string): number[] {
  const groups: number[] = [];
  let gap = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && text.charCodeAt(at) !== colon) continue;
    const group = text.slice(start, at);
    if (group === "") gap = groups.length;
    else if (!group.includes(".")) groups.push(Number.parseInt(group, 16));
    else groups.push(quadWord(group) >>> 16, quadWord(group) & 0xffff);
    start = at + 1;
  }
  if (groups.length < 8)
    groups.splice(gap, 0, ...Array.from({ length: 8 - groups.length }, () => 0));
  return [0, 2, 4, 6].map((at) => groups[at]! * 0x10000 + groups[at + 1]!);
}

const zero = 0x30;
const colon = 0x3a;

/** Formats the address at an index: as a dotted quad, or in the form of RFC 5952. */
export function addressText(words: Uint32Array, at: number, width: number): string {
  if (width === widths.v4) {
    const address = words[at]!;
    return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
  }
  let groups = "";
  for (let word = at * width; word < (at + 1) * width; word++) {
    groups += `:${(words[word]! >>> 16).toString(16)}:${(words[word]! & 0xffff).toString(16)}`;
  }
  return readIpv6(groups.slice(1))!;
}

export function* addressTexts({ v4, v6 }: AddressList): Generator<string, void, undefined> {
  for (let at = 0; at < v4.length; at++) yield addressText(v4, at, widths.v4);
  for (let at = 0; at < v6.length / widths.v6; at++) yield addressText(v6, at, widths.v6);
}
