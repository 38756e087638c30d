import { isIPv4, isIPv6 } from "node:net";

/**
 * Reads an IPv4 or IPv6 address. A port behind it is dropped (`192.0.2.1:80`, `[2001:db8::1]:80`).
 *
 * IPv4 is a dotted quad without leading zeros. IPv6 is written as RFC 5952 has it; an IPv4-mapped
 * address stays one, in the mixed notation of its section 5 (`::ffff:192.0.2.1`). A zone
 * (`fe80::1%eth0`) makes it no item.
 *
 * @returns the normal form, or null when the text is no address
 */
export function readIp(text: string): string | null {
  if (isIPv4(text)) return text;
  const colon = text.indexOf(":");
  if (colon < 0) return null;
  if (text.startsWith("[")) {
    const close = text.indexOf("]");
    return close > 0 && isPortOrNothing(text, close + 1) ? readIpv6(text.slice(1, close)) : null;
  }
  const address = text.slice(0, colon);
  if (isIPv4(address) && isPortOrNothing(text, colon)) return address;
  return readIpv6(text);
}

/** The RFC 5952 form of an IPv6 address, or null. */
export function readIpv6(text: string): string | null {
  if (text.length > longestIpv6 || !isIPv6(text) || text.includes("%")) return null;
  // The WHATWG serializer compresses as RFC 5952 section 4 does (first longest run of at least two
  // groups, lower case, no leading zeros); it lacks the mixed notation of section 5.
  const groups = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return mapped.test(groups) ? mixedNotation(groups) : groups;
}

/** True when `text` ends at `from`, or has a colon and a port there (a space between is let pass). */
export function isPortOrNothing(text: string, from: number): boolean {
  return from === text.length || (text.length - from <= longestPort && port.test(text.slice(from)));
}

/** Eight groups of four digits, the last two as a dotted quad. */
const longestIpv6 = 45;
const longestPort = 8;
/** The port may be empty, as RFC 3986 section 3.2.3 has it; its number is not judged. */
const port = /^: ?\d{0,5}$/;
const mapped = /^::ffff:[\da-f]{1,4}:[\da-f]{1,4}$/;

function mixedNotation(groups: string): string {
  const [high = 0, low = 0] = groups
    .slice("::ffff:".length)
    .split(":")
    .map((group) => Number.parseInt(group, 16));
  return `::ffff:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
