import { isIPv4 } from "node:net";
import { readIpv6 } from "../../core/item/ip.js";

/** A line that is no IP address. */
export interface IpListFault {
  /** Which of the texts, from 0. */
  readonly source: number;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * Reads texts of one address a line, one text after the other; blank lines and lines that begin
 * with `#` are left out.
 *
 * @returns the distinct addresses, IPv4 first, then IPv6, each in the order of the texts; or the
 *   first line that is no address
 */
export function readIpList(sources: readonly string[]): readonly string[] | IpListFault {
  const v4 = new Set<string>();
  const v6 = new Set<string>();
  for (const [source, text] of sources.entries()) {
    for (const [index, line] of text.split("\n").entries()) {
      const entry = line.trim();
      if (entry === "" || entry.startsWith("#")) continue;
      const address = readIpv6(entry);
      if (isIPv4(entry)) v4.add(entry);
      else if (address !== null) v6.add(address);
      else return { source, line: index + 1, text: entry };
    }
  }
  return [...v4, ...v6];
}
