import { createReadStream } from "node:fs";
import { isIPv4, isIPv6 } from "node:net";
import { readIpv6, v4Number, v6Number, v6Text } from "../../core/item/ip.js";

/**
 * An IPv4 address as a number, an IPv6 address as a bigint. An IPv4-mapped address
 * (`::ffff:192.0.2.1`) stays the IPv6 address as given.
 */
export type Address = number | bigint;

export type Addresses = readonly Address[];

/**
 * Parses the entries of a page: dotted quads without leading zeros, and IPv6 addresses in any form
 * of RFC 4291 section 2.2, but without a zone (`%eth0`).
 *
 * @returns the addresses in order of arrival, or the index of the first invalid entry
 */
export function readEntries(entries: readonly string[]): Addresses | number {
  const addresses: Address[] = [];
  for (const [at, entry] of entries.entries()) {
    if (isIPv4(entry)) addresses.push(v4Number(entry));
    else if (!isIPv6(entry) || entry.includes("%")) return at;
    else addresses.push(v6Number(readIpv6(entry) ?? entry));
  }
  return addresses;
}

/** Reads a file with one address per line; null if it cannot be read or does not have `total` lines. */
export async function readAddresses(path: string, total: number): Promise<Addresses | null> {
  const addresses: Address[] = [];
  let rest = "";
  try {
    for await (const text of createReadStream(path, "utf8")) {
      const lines = (rest + String(text)).split("\n");
      rest = lines.pop()!;
      const page = readEntries(lines);
      if (typeof page === "number") return null;
      addresses.push(...page);
    }
  } catch {
    return null;
  }
  const list = sortAddresses(addresses);
  return rest === "" && list.length === total ? list : null;
}

/** Ascending and distinct: IPv4 before IPv6. */
export function sortAddresses(addresses: Addresses): Addresses {
  return [...new Set(addresses)].sort((a, b) => familyOf(a) - familyOf(b) || (a < b ? -1 : 1));
}

/** What a list has and another one lacks. */
export function difference(list: Addresses, other: Addresses): Addresses {
  const known = new Set(other);
  return list.filter((address) => !known.has(address));
}

export function familyOf(address: Address): 4 | 6 {
  return typeof address === "number" ? 4 : 6;
}

/** A dotted quad, or the form of RFC 5952. */
export function textOf(address: Address): string {
  if (typeof address === "bigint") return v6Text(address);
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}
