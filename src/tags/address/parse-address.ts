import { isIPv6 } from "node:net";

/**
 * Reads a dotted quad without leading zeros.
 *
 * @returns the address as 32 bits, or -1 when the text is none
 */
export function parseV4(text: string): number {
  const { length } = text;
  if (length < 7 || length > 15) return -1;
  let address = 0;
  let octet = -1;
  let dots = 0;
  for (let at = 0; at < length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit === dot) {
      if (octet < 0) return -1;
      address = address * 256 + octet;
      octet = -1;
      dots++;
    } else {
      if (digit < 0 || digit > 9 || octet === 0) return -1;
      octet = octet < 0 ? digit : octet * 10 + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? address * 256 + octet : -1;
}

/**
 * Reads an IPv6 address in any of the forms of RFC 4291 section 2.2 into four words of `words` from
 * `at` on. A zone (`%eth0`) is no part of an address.
 *
 * @returns whether the text is an address
 */
export function parseV6(text: string, words: Uint32Array, at: number): boolean {
  if (text.length > longestV6 || !isIPv6(text) || text.includes("%")) return false;
  const gap = text.indexOf("::");
  const head = gap < 0 ? text : text.slice(0, gap);
  const tail = gap < 0 ? "" : text.slice(gap + 2);
  words.fill(0, at, at + 4);
  readGroups(head, words, at, 0);
  if (tail !== "") readGroups(tail, words, at, 8 - groupsIn(tail));
  if (!text.includes(".")) return true;
  const last = parseV4(text.slice(text.lastIndexOf(":") + 1));
  words[at + 3] = last;
  return last >= 0;
}

/** A dot's distance from the digit 0. */
const dot = 0x2e - 0x30;
const colon = 0x3a;
/** Eight groups of four digits, the last two as a dotted quad. */
const longestV6 = 45;

/** Reads groups of 16 bits, joined by colons, up to a dotted quad. */
function readGroups(text: string, words: Uint32Array, at: number, first: number): void {
  let group = first;
  let value = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === colon) {
      put(words, at, group++, value);
      value = 0;
    } else if (code === 0x2e) {
      return;
    } else {
      // 0-9 are 0x30 to 0x39, a-f 0x61 to 0x66 and A-F 0x41 to 0x46.
      value = value * 16 + (code <= 0x39 ? code - 0x30 : (code & 0xf) + 9);
    }
  }
  if (text !== "") put(words, at, group, value);
}

function put(words: Uint32Array, at: number, group: number, value: number): void {
  const word = at + (group >> 1);
  words[word] = group % 2 === 0 ? value * 0x10000 : words[word]! + value;
}

/** How many groups of 16 bits a text has; a dotted quad stands for two. */
function groupsIn(text: string): number {
  let groups = text.includes(".") ? 2 : 1;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) === colon) groups++;
  }
  return groups;
}
