import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import { readIpv6 } from "./ip.js";

/**
 * True for an address that cannot be a host on the public Internet: private, loopback, link-local,
 * documentation, benchmarking, multicast, reserved, and IPv6 outside of what IANA has opened
 * (2000::/3). Source: the IANA IPv4 and IPv6 special-purpose address registries, column "globally
 * reachable"; 6to4 and Teredo, for which it says "not applicable", are no bogons.
 *
 * @param ip an address as `recogniseItem` writes it; anything else is no bogon
 */
export function isBogon(ip: string): boolean {
  if (isIPv4(ip)) {
    return !reachable.has(ip) && !reachableRanges.has(ipaddr.IPv4.parse(ip).range());
  }
  const address = readIpv6(ip);
  if (address === null) return false;
  if (reachable.has(address)) return false;
  const parsed = ipaddr.IPv6.parse(address);
  if (reachableRanges.has(parsed.range())) return !isGlobalUnicast(parsed);
  return !(parsed.range() === "rfc6052" && parsed.match(wellKnownNat64, 96));
}

/** Ranges as ipaddr.js names them that hold public hosts, or services reachable like hosts. */
const reachableRanges: ReadonlySet<string> = new Set([
  "unicast",
  "as112",
  "amt",
  "as112v6",
  "orchid2",
  "droneRemoteIdProtocolEntityTags",
  "6to4",
  "teredo",
]);

/** Single addresses within reserved ranges that the registries call globally reachable. */
const reachable: ReadonlySet<string> = new Set([
  "192.0.0.9",
  "192.0.0.10",
  "2001:1::1",
  "2001:1::2",
  "2001:1::3",
]);

const wellKnownNat64 = ipaddr.IPv6.parse("64:ff9b::");
const globalUnicast = ipaddr.IPv6.parse("2000::");

/** ipaddr.js calls everything unicast that has no range of its own, allocated or not. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return address.match(globalUnicast, 3);
}
