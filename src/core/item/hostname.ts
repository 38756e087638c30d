import { domainToASCII, domainToUnicode } from "node:url";
import { parse } from "tldts";
import { readIpv6, withoutPort } from "./ip.js";
import { strip } from "./refang.js";

/**
 * Reads a host name under a known public suffix (the ICANN part of the Public Suffix List, which
 * includes `onion`).
 *
 * Accepts underscores and edge hyphens in labels below the registered name: RFC 952 forbids them in
 * host names, but the DNS carries them. Rejects them in the registered name, since no registry
 * allows them.
 *
 * @returns its name (lower case, A-labels, no trailing dot) and its suffix; null if the text is not a
 *   host name, has no known suffix, or is itself a public suffix
 */
export function readHostname(text: string) {
  const name = asciiHostname(text);
  if (name === null || name.length > longestName || !labels.test(name)) return null;
  const { domain, publicSuffix, isIcann } = parse(name, suffixOnly);
  if (isIcann !== true || domain === null || publicSuffix === null) return null;
  return registrable.test(domain) ? { name, suffix: publicSuffix } : null;
}

/** Whether a host name in normal form is, or ends in, a known public suffix. */
export function hasPublicSuffix(name: string): boolean {
  return parse(name, suffixOnly).isIcann === true;
}

const longestName = 253;
/** Maximum input length, before IDNA shortens or lengthens it. */
const longestInput = 1024;

/** The text is already a bare host name, so tldts doesn't need to extract one. */
const suffixOnly = {
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
};

const plain = /^[\w.-]+$/;
const registrable = /^[\da-z](?:[\da-z-]*[\da-z])?\./;
/** ASCII that host names don't contain. `domainToASCII` would decode `%41`, or cut at `/`. */
const foreign = /[^\w.\u0080-\u{10ffff}-]/u;

/** Lower case with A-labels (WHATWG's UTS 46) and without a trailing dot; null if invalid. */
export function asciiHostname(text: string): string | null {
  if (text.length > longestInput) return null;
  let name: string;
  if (plain.test(text)) name = text.toLowerCase();
  else if (foreign.test(text)) return null;
  else name = domainToASCII(text);
  if (!areALabelsValid(name)) return null;
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/**
 * Whether every A-label of a lower-case host name decodes, as resolver libraries require. The URL parser
 * of Node.js 24 lets others through (`xn--a`).
 */
export function areALabelsValid(name: string): boolean {
  if (!name.includes("xn--")) return true;
  return domainToASCII(name) === name && !aLabel.test(domainToUnicode(name));
}

const aLabel = /(?:^|\.)xn--/;

/** At least two labels of 1 to 63 letters, digits, hyphens and underscores. */
const labels = /^(?:[\w-]{1,63}\.)+[\w-]{1,63}$/;

/**
 * Reads a domain or host name under a known public suffix: lower case, A-labels, no trailing dot.
 * Drops a port (`example.com:8080`).
 *
 * A name that could also be a file (`install.sh`) is a domain if its ending is a public suffix:
 * looking up a file wastes a request, not looking up a domain loses an answer.
 *
 * @param labelled true if the input says that this is a domain; a space next to a dot is then
 *   removed (`example. com`, which otherwise may be the end of a sentence)
 * @returns the normal form, or null if the text is not a domain
 */
export function readDomain(text: string, labelled: boolean): string | null {
  const host = withoutPort(labelled ? text.replace(spacedDot, ".") : text);
  return host === null ? null : (readHostname(host)?.name ?? null);
}

const spacedDot = / ?\. ?/g;

/**
 * Reads an e-mail address: the local part as written, the domain normalised. Drops `mailto:` and
 * anything from its `?` on. Rejects quoted local parts and address literals (`user@[192.0.2.1]`).
 *
 * @returns the normal form, or null if the text is not an e-mail address
 */
export function readEmail(text: string): string | null {
  if (!text.includes("@")) return null;
  const address = mailto.test(text) ? strip(text.replace(aroundMailed, "")) : text;
  const at = address.indexOf("@");
  if (at < 1 || at > longestLocalPart) return null;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const host = localPart.test(local) ? readHostname(domain) : null;
  if (host === null) return null;
  return host.name === domain ? address : `${local}@${host.name}`;
}

const mailto = /^mailto:/i;
const aroundMailed = /^mailto:|\?.*$/gis;
/** RFC 5321 allows 64 octets, but longer mailing list and bounce addresses do get delivered. */
const longestLocalPart = 256;
/** A dot-atom (RFC 5322, with RFC 6532's letters), read leniently; `/` is left to URLs. */
const localPart = /^[^\s"(),:;<>@[\]\\/]+$/;

/**
 * First and last address that a reverse name stands for (RFC 1035 section 3.5, RFC 3596 section 2.5): the
 * same address twice for a whole name, the ends of a network for a zone such as `2.0.192.in-addr.arpa`.
 * Labels in front of the address (`_dns-sd`, RFC 2317's `0/25`) say nothing.
 *
 * @param name in lower case, without a trailing dot
 * @returns null for any other name
 */
export function reverseEnds(name: string): readonly [first: string, last: string] | null {
  const suffix = reverseZone.exec(name)?.[0];
  if (suffix === undefined) return null;
  const isV4 = suffix === ".in-addr.arpa";
  const [label, count, last] = isV4 ? ([octet, 4, "255"] as const) : ([nibble, 32, "f"] as const);
  const labels = name.slice(0, -suffix.length).split(".").reverse().slice(0, count);
  const end = labels.findIndex((text) => !label.test(text));
  const parts = end < 0 ? labels : labels.slice(0, end);
  const filled = (rest: string): string => {
    const all = [...parts, ...Array<string>(count - parts.length).fill(rest)];
    return isV4 ? all.join(".") : readIpv6(all.join("").replaceAll(/(.{4})(?!$)/g, "$1:"))!;
  };
  return parts.length === 0 ? null : [filled("0"), filled(last)];
}

/** `ip6.int` is the forerunner of `ip6.arpa` (RFC 4159). */
const reverseZone = /\.(?:in-addr\.arpa|ip6\.(?:arpa|int))$/;
const octet = /^(?:1?\d?\d|2[0-4]\d|25[0-5])$/;
const nibble = /^[\da-f]$/;
