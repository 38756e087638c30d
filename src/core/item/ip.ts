import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Reads an IPv4 or IPv6 address. Drops a port (`192.0.2.1:80`, `[2001:db8::1]:80`).
 *
 * IPv4 is a dotted quad without leading zeros. IPv6 is written as in RFC 5952; IPv4-mapped addresses
 * keep its section 5 mixed notation (`::ffff:192.0.2.1`). Rejects addresses with a zone
 * (`fe80::1%eth0`).
 *
 * @returns the normal form, or null if the text is not an address
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

export function readIpv6(text: string): string | null {
  if (text.length > longestIpv6 || !isIPv6(text) || text.includes("%")) return null;
  // The WHATWG serializer compresses as RFC 5952 section 4 does (first longest run of at least two
  // groups, lower case, no leading zeros) but lacks section 5's mixed notation.
  const groups = new URL(`http://[${text}]`).hostname.slice(1, -1);
  return mapped.test(groups)
    ? `::ffff:${ipaddr.IPv6.parse(groups).toIPv4Address().toString()}`
    : groups;
}

export function v4Number(quad: string): number {
  return quad.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

/** @param ip IPv6, as `readIpv6` writes it; ipaddr.js takes `::192.0.2.1` for `::ffff:192.0.2.1` */
export function v6Number(ip: string): bigint {
  const { parts } = ipaddr.IPv6.parse(ip);
  return parts.reduce((sum, part) => (sum << 16n) | BigInt(part), 0n);
}

/** True if `text` ends at `from` or continues with a port there, optionally after a space. */
export function isPortOrNothing(text: string, from: number): boolean {
  return from === text.length || (text.length - from <= longestPort && port.test(text.slice(from)));
}

/** Eight groups of four digits, the last two as a dotted quad. */
const longestIpv6 = 45;
const longestPort = 8;
/** RFC 3986 section 3.2.3 allows an empty port; the number is not validated. */
const port = /^: ?\d{0,5}$/;
const mapped = /^::ffff:[\da-f]{1,4}:[\da-f]{1,4}$/;

/**
 * True for an address that cannot be a host on the public Internet: private, loopback, link-local,
 * documentation, benchmarking, multicast, reserved, and IPv6 outside 2000::/3, the only block IANA
 * has opened. Source: IANA's IPv4 and IPv6 special-purpose address registries, column "globally
 * reachable". An address that embeds an IPv4 address is as good as that one: RFC 6052 section 3.1 and
 * RFC 3056 section 2 allow public ones only. Teredo, marked "not applicable" there, is not a bogon.
 *
 * @param ip an address as `recogniseItem` writes it; any other text is not a bogon
 */
export function isBogon(ip: string): boolean {
  if (isIPv4(ip)) {
    return !reachable.has(ip) && !reachableRanges.has(ipaddr.IPv4.parse(ip).range());
  }
  const address = readIpv6(ip);
  if (address === null) return false;
  if (reachable.has(address)) return false;
  const quad = embeddedIpv4(address);
  if (quad !== null) return isBogon(quad);
  const parsed = ipaddr.IPv6.parse(address);
  return !reachableRanges.has(parsed.range()) || !isGlobalUnicast(parsed);
}

/**
 * The IPv4 address in one of 6to4 (`2002::/16`, RFC 3056) or NAT64 (`64:ff9b::/96`, RFC 6052); null
 * for any other address.
 *
 * @param ip IPv6, as `readIpv6` writes it
 */
export function embeddedIpv4(ip: string): string | null {
  if (!ip.startsWith("2002:") && !ip.startsWith("64:ff9b::")) return null;
  const address = ipaddr.IPv6.parse(ip);
  const bytes = address.toByteArray();
  if (address.range() === "6to4") return bytes.slice(2, 6).join(".");
  return address.match(wellKnownNat64, 96) ? bytes.slice(12).join(".") : null;
}

/** ipaddr.js's names of ranges with public hosts, or services reachable like hosts. */
const reachableRanges: ReadonlySet<string> = new Set(
  "unicast as112 amt as112v6 orchid2 6to4 teredo droneRemoteIdProtocolEntityTags".split(" "),
);

/** Addresses in reserved ranges that the registries list as globally reachable. */
const reachable: ReadonlySet<string> = new Set(
  "192.0.0.9 192.0.0.10 2001:1::1 2001:1::2 2001:1::3".split(" "),
);

const wellKnownNat64 = ipaddr.IPv6.parse("64:ff9b::");
const globalUnicast = ipaddr.IPv6.parse("2000::");

/** ipaddr.js calls every address outside its named ranges unicast, allocated or not. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return address.match(globalUnicast, 3);
}
