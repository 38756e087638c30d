import { isIPv4, isIPv6 } from "node:net";
import { readIpv6 } from "../../core/item/ip.js";
import { type AddressList, widths } from "./address-list.js";

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

/** The addresses of a list as text, in order. */
export function* addressTexts({ v4, v6 }: AddressList): Generator<string, void, undefined> {
  for (let at = 0; at < v4.length; at++) yield addressText(v4, at, widths.v4);
  for (let at = 0; at < v6.length / widths.v6; at++) yield addressText(v6, at, widths.v6);
}
