import { isIPv4, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Reads an IPv4 or IPv6 address. Drops a port (`192.0.2.1:80`, `[2001:db8::1]:80`, `192.0.2.1:53/udp`),
 * also one as BIND (`192.0.2.1#53`) or Cisco (`192.0.2.1/50000`) writes it.
 *
 * IPv4 is a dotted quad without leading zeros. IPv6 is written as in RFC 5952; an IPv4-mapped address
 * (`::ffff:192.0.2.1`, `::ffff:c000:201`) is the IPv4 address. Rejects addresses with a zone
 * (`fe80::1%eth0`).
 *
 * @returns the normal form, or null if the text is not an address
 */
export function readIp(text: string): string | null {
  if (!start.test(text)) return null;
  if (isIPv4(text)) return text;
  const found = otherPort.exec(text);
  const beforePort = found?.[1] ?? found?.[2];
  if (beforePort !== undefined) return readIp(beforePort);
  if (!text.includes(":")) return null;
  const host = withoutPort(text) ?? "";
  const address = host.startsWith("[") ? host.slice(1, -1) : host;
  if (isIPv4(address)) return address;
  return unmapped(readIpv6(host.startsWith("[") ? address : text));
}

/**
 * The IPv4 address that an IPv4-mapped address stands for; any other address unchanged.
 *
 * @param ip as `readIpv6` writes it
 */
export function unmapped<T extends string | null>(ip: T): T | string {
  return ip?.startsWith(mappedPrefix) === true && ip.includes(".")
    ? ip.slice(mappedPrefix.length)
    : ip;
}

const mappedPrefix = "::ffff:";

/** Reads an IPv6 address; an IPv4-mapped one keeps the mixed notation of RFC 5952, section 5. */
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

export function v6Text(address: bigint): string {
  const digits = address.toString(16).padStart(32, "0");
  return readIpv6(digits.replaceAll(/.{4}(?=.)/g, "$&:"))!;
}

const start = /^\[?(?:[\d:]|[\da-f]{1,4}:)/i;
/** A shorter number behind a slash is more likely a prefix length. `::ffff:192.0.2.1:80` is netstat's. */
const otherPort =
  /^([\d.]{7,15}(?=[/#])|[\da-f:.]{2,45}(?=#))(?:#\d{1,5}|\/\d{3,5})$|^::ffff:([\d.]{7,15}):\d{1,5}$/i;

/** The host of `host:port` or `host: port`, and a host alone; null for what is neither. */
export function withoutPort(text: string): string | null {
  const end = text.startsWith("[") ? text.indexOf("]") + 1 : text.search(/:|$/);
  const rest = text.slice(end);
  return rest === "" || (rest.length <= longestPort && port.test(rest)) ? text.slice(0, end) : null;
}

/** Eight groups of four digits, the last two as a dotted quad. */
const longestIpv6 = 45;
const longestPort = 12;
/** RFC 3986 section 3.2.3 allows an empty port; the number is not validated. */
const port = /^: ?\d{0,5}(?:(?<=\d)\/(?:tcp|udp))?$/i;
const mapped = /^::ffff:[\da-f]{1,4}:[\da-f]{1,4}$/;

/**
 * True for an address that cannot be a host on the public Internet: private, loopback, link-local,
 * documentation, benchmarking, multicast, reserved, and IPv6 outside 2000::/3, the only block IANA
 * has opened. Source: IANA's IPv4 and IPv6 special-purpose address registries, column "globally
 * reachable". An address that embeds IPv4 addresses is no better than these (RFC 6052 section 3.1,
 * RFC 3056 section 2).
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
  if (embeddedIpv4(address).some(isBogon)) return true;
  const parsed = ipaddr.IPv6.parse(address);
  const range = parsed.range();
  if (translatedRanges.has(range)) return false;
  // ipaddr.js calls every address outside its named ranges unicast, allocated or not.
  return !reachableRanges.has(range) || !parsed.match(globalUnicast, 3);
}

/**
 * The IPv4 addresses in an IPv6 address: IPv4-mapped and -compatible (RFC 4291), translated (RFC 2765),
 * NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), Teredo (RFC 4380: server and client), ISATAP (RFC 5214).
 *
 * @param ip IPv6, as `readIpv6` writes it
 */
export function embeddedIpv4(ip: string): readonly string[] {
  const { parts } = ipaddr.IPv6.parse(ip);
  const quad = (at: number, mask = 0): string => quadOf(parts[at]! ^ mask, parts[at + 1]! ^ mask);
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0] = parts;
  const found: string[] = [];
  if (first === 0x2002) found.push(quad(1));
  if (first === 0x2001 && second === 0) found.push(quad(2), quad(6, 0xffff));
  if (endsInIpv4.has(parts.slice(0, 6).join())) found.push(quad(6));
  if (first === 0x64 && second === 0xff9b && third === 1) {
    found.push(quad(6), quadOf(fourth, ((fifth & 0xff) << 8) | (sixth >> 8)));
  }
  if ((fifth & 0xfdff) === 0 && sixth === 0x5efe) found.push(quad(6));
  return found;
}

/** First 96 bits of addresses whose last 32 are an IPv4 address. */
const endsInIpv4: ReadonlySet<string> = new Set(
  [
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0xffff],
    [0, 0, 0, 0, 0xffff, 0],
    [0x64, 0xff9b, 0, 0, 0, 0],
  ].map((groups) => groups.join()),
);

function quadOf(high: number, low: number): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** ipaddr.js's names of ranges that are as public as the IPv4 address in them. */
const translatedRanges: ReadonlySet<string> = new Set(["ipv4Mapped", "rfc6052"]);

/** ipaddr.js's names of ranges with public hosts, or services reachable like hosts. */
const reachableRanges: ReadonlySet<string> = new Set(
  "unicast as112 amt as112v6 orchid2 6to4 teredo droneRemoteIdProtocolEntityTags".split(" "),
);

/** Addresses in reserved ranges that the registries list as globally reachable. */
const reachable: ReadonlySet<string> = new Set(
  "192.0.0.9 192.0.0.10 2001:1::1 2001:1::2 2001:1::3".split(" "),
);

const globalUnicast = ipaddr.IPv6.parse("2000::");
