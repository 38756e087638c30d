import { isIPv4 } from "node:net";
import { Draw, questions } from "./draw.js";

/** An invented network: AS numbers of RFC 5398, names that say so. */
export interface Network {
  readonly asn: string;
  readonly name: string;
  readonly countryCode: string;
}

const trades = ["HOSTING", "TELECOM", "CLOUD", "BROADBAND", "MOBILE", "CAMPUS"] as const;
const countries = ["US", "DE", "BR", "NL", "IN", "FR", "GB", "VN", "ZA", "PL", "JP", "MX"] as const;

/** 64496 to 64511 and 65536 to 65551 are reserved for documentation (RFC 5398). */
const numbers = [64_496, 65_536].flatMap((first) =>
  Array.from({ length: 16 }, (_, index) => first + index),
);

const networks = numbers.map((number, index): Network => {
  const trade = trades[index % trades.length];
  return {
    asn: `AS${number}`,
    name: `INVENTED-${trade}-${1 + Math.floor(index / trades.length)}`,
    countryCode: countries[(index * 5) % countries.length] ?? "US",
  };
}) as [Network, ...Network[]];

/** The network of an address; neighbouring addresses share it, and a few networks have most of them. */
export function networkOf(seed: number, address: string): Network {
  return new Draw(seed, prefixOf(address)).pick(networks, questions.network, 2.2);
}

/** The first 28 bits of an IPv4 address, the first three groups of an IPv6 address. */
function prefixOf(address: string): string {
  if (!isIPv4(address)) return address.split(":").slice(0, 3).join(":");
  const dot = address.lastIndexOf(".");
  return `${address.slice(0, dot)}/${Number(address.slice(dot + 1)) >> 4}`;
}
