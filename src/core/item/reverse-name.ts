import { readIpv6 } from "./ip.js";

/**
 * First and last address that a reverse name stands for (RFC 1035 section 3.5, RFC 3596 section 2.5): the
 * same address twice for a whole name, the ends of a network for a zone such as `2.0.192.in-addr.arpa`.
 * Labels in front of the address (`_dns-sd`, RFC 2317's `0/25`) say nothing.
 *
 * @param name in lower case, without a trailing dot
 * @returns null for any other name
 */
export function reverseEnds(name: string): readonly [first: string, last: string] | null {
  const [suffix] = reverseZone.exec(name) ?? [];
  if (suffix === undefined) return null;
  const labels = name.slice(0, -suffix.length).split(".").reverse();
  const isV4 = suffix === ".in-addr.arpa";
  const [label, count] = isV4 ? ([octet, 4] as const) : ([nibble, 32] as const);
  const end = labels.findIndex((text) => !label.test(text));
  const parts = labels.slice(0, Math.min(end < 0 ? labels.length : end, count));
  if (parts.length === 0) return null;
  const filled = (rest: string): readonly string[] => [
    ...parts,
    ...Array<string>(count - parts.length).fill(rest),
  ];
  return isV4
    ? [filled("0").join("."), filled("255").join(".")]
    : [ipv6Of(filled("0")), ipv6Of(filled("f"))];
}

/** `ip6.int` is the forerunner of `ip6.arpa` (RFC 4159). */
const reverseZone = /\.(?:in-addr\.arpa|ip6\.(?:arpa|int))$/;
const octet = /^(?:1?\d?\d|2[0-4]\d|25[0-5])$/;
const nibble = /^[\da-f]$/;

function ipv6Of(nibbles: readonly string[]): string {
  return readIpv6(nibbles.join("").replaceAll(/(.{4})(?!$)/g, "$1:"))!;
}
