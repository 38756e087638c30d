import { isIPv4 } from "node:net";
import { readIpv6 } from "../../core/item/ip.js";

/** Tests addresses for membership in a list. Builds its index at the first test. */
export function hasMember(list: readonly string[]): (address: string) => boolean {
  let members: ReadonlySet<string> | undefined;
  return (address) => (members ??= new Set(list)).has(address);
}

/**
 * Parses a text with one address per line. Ignores blank lines and lines that start with `#`.
 *
 * @returns the distinct addresses, IPv4 before IPv6, otherwise in order of appearance; or the first
 *   line, counted from 1, that is not an address
 */
export function readIpList(
  text: string,
): readonly string[] | { readonly line: number; readonly text: string } {
  const v4 = new Set<string>();
  const v6 = new Set<string>();
  for (const [index, line] of text.split("\n").entries()) {
    const entry = line.trim();
    if (entry === "" || entry.startsWith("#")) continue;
    const address = readIpv6(entry);
    if (isIPv4(entry)) v4.add(entry);
    else if (address !== null) v6.add(address);
    else return { line: index + 1, text: entry };
  }
  return [...v4, ...v6];
}
