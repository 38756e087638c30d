import { isIPv4, isIPv6 } from "node:net";
import { readIpv6, v4Number, v6Number } from "../core/item/ip.js";

/**
 * IP addresses as numbers. A sorted list has them ascending and distinct, IPv4 before IPv6. An
 * IPv4-mapped address (`::ffff:192.0.2.1`) stays the IPv6 address as given.
 */
export interface AddressList {
  readonly v4: readonly number[];
  readonly v6: readonly bigint[];
}

export const noAddresses: AddressList = { v4: [], v6: [] };

export function sizeOf({ v4, v6 }: AddressList): number {
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
  return { v4, v6 };
}

export function sortAddresses({ v4, v6 }: AddressList): AddressList {
  return { v4: sorted(v4), v6: sorted(v6) };
}

/** What a sorted list has and another one lacks. */
export function difference(list: AddressList, other: AddressList): AddressList {
  return { v4: lacking(list.v4, other.v4), v6: lacking(list.v6, other.v6) };
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

export function v6Text(address: bigint): string {
  const digits = address.toString(16).padStart(32, "0");
  return readIpv6(digits.replaceAll(/.{4}(?=.)/g, "$&:"))!;
}

function sorted<T extends number | bigint>(addresses: readonly T[]): T[] {
  return addresses
    .toSorted((a, b) => (a < b ? -1 : Number(a > b)))
    .filter((address, at, all) => address !== all[at - 1]);
}

function lacking<T extends number | bigint>(list: readonly T[], other: readonly T[]): T[] {
  let at = 0;
  return list.filter((address) => {
    while (other[at]! < address) at++;
    return other[at] !== address;
  });
}

function* mapped<T>(values: readonly T[], textOf: (value: T) => string): Generator<string> {
  for (const value of values) yield textOf(value);
}
