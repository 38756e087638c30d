import { isIPv4 } from "node:net";
import { areALabelsValid, hasPublicSuffix, readHostname, reverseEnds } from "./hostname.js";
import { isBogon, readIpv6, unmapped, withoutPort } from "./ip.js";
import type { Item } from "./item.js";
import { refang, strip } from "./refang.js";

/**
 * Reads an http, https, ftp, ws or wss URL as the WHATWG parser does and returns its href:
 * `HTTP://Example.com` becomes `http://example.com/`. Keeps the fragment, which is part of the
 * indicator, and drops user name and password.
 *
 * Without a scheme, `http://` is assumed if the text is an address or a host under a known public
 * suffix, followed by a path or query (but `192.0.2.1/24` is a network, and what follows `example.com#`
 * is a comment).
 *
 * @param labelled true if the input says that this is a URL; it then needs no path
 * @returns the normal form, or null if the text is not a URL
 */
export function readUrl(text: string, labelled: boolean): string | null {
  if (scheme.test(text)) {
    return severalUrls.test(text) || divided.test(text) ? null : toHref(text);
  }
  return isUrlWithoutScheme(text, labelled) ? toHref(`http://${text}`) : null;
}

/** True for an IP address followed by a prefix length or netmask. */
export function isNetwork(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0 || slash > longestAddress || text.length - slash > longestAddress) return false;
  const address = text.slice(0, slash);
  const prefix = text.slice(slash + 1);
  if (isIPv4(address)) return isIPv4(prefix) || isPrefixLength(prefix, 32);
  return address.includes(":") && isPrefixLength(prefix, 128) && readIpv6(address) !== null;
}

const scheme = /^(?:https?|ftp|wss?):/i;
/** A second URL behind white space or another separator. */
const severalUrls = /[\s,;|](?:https?|ftp|wss?|hxxps?):\/\//i;
/** The WHATWG parser would leave them out. */
const divided = /[\t\n\r]/;
const afterAuthority = /[/?#]/;
const nothingBehind = /^[^/?#]+\?+$/;
const portAndProtocol = /^[^/?#]+:\d{1,5}\/(?:tcp|udp)$/i;
const space = /\s/;
const separator = /[,;|]/;
const longestAddress = 48;
/** One parse reaches a fixed point, unless its result contains a defanged token again. */
const rounds = 4;

function isUrlWithoutScheme(text: string, labelled: boolean): boolean {
  const end = text.search(afterAuthority);
  if (end === 0 || (end < 0 && !labelled) || space.test(text)) return false;
  if (text[end] === "#" && !labelled) return false;
  // The end of a question, or a port as tools write it (`example.com:53/udp`).
  if (nothingBehind.test(text) || portAndProtocol.test(text)) return false;
  if (!labelled && isNetwork(text.split(separator, 1)[0] ?? "")) return false;
  return isHostAndPort(end < 0 ? text : text.slice(0, end));
}

function isHostAndPort(authority: string): boolean {
  const host = withoutPort(authority) ?? "";
  if (host.startsWith("[")) return readIpv6(host.slice(1, -1)) !== null;
  return isIPv4(host) || readHostname(host) !== null;
}

export function isPrefixLength(text: string, longest: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= longest;
}

/**
 * An href that parses to itself. `http://example.com/[/./]` parses to `http://example.com/[/]`, which
 * contains `[/]`, a defanged slash.
 */
function toHref(text: string): string | null {
  let href = parseHref(text);
  for (let round = 0; round < rounds && href !== null; round++) {
    const plain = refang(href);
    const again: string | null = plain === href ? href : parseHref(strip(plain));
    if (again === href) return href;
    href = again;
  }
  return null;
}

function parseHref(text: string): string | null {
  try {
    const url = new URL(text);
    if (!areALabelsValid(url.hostname)) return null;
    if (url.hostname.startsWith("[::ffff:")) {
      url.hostname = unmapped(readIpv6(url.hostname.slice(1, -1))) ?? url.hostname;
    }
    if (url.username !== "") url.username = "";
    if (url.password !== "") url.password = "";
    return url.href === text ? text : url.href;
  } catch {
    return null;
  }
}

/** The host of an item: an address without brackets, or a name without trailing dots; null without one. */
export function hostOf({ kind, value }: Item): string | null {
  if (kind === "ip" || kind === "domain") return value;
  if (kind === "email") return value.slice(value.lastIndexOf("@") + 1);
  if (kind !== "url") return null;
  // In normal form, a URL has no user name.
  const [, address, name = ""] = authority.exec(value) ?? [];
  return address ?? name.replace(trailingDots, "");
}

const authority = /^\w+:\/\/(?:\[([^\]]*)\]|([^/:?#]*))/;
const trailingDots = /\.+$/;

/**
 * Whether a host is one of the inner network: an address in a reserved range or the reverse name of one,
 * a bare name, a name in a zone of the home (RFC 8375), or one without a known public suffix. Names under
 * `.example` (RFC 2606) stand for public ones.
 */
export function isInternalHost(host: string): boolean {
  if (host.includes(":") || isIPv4(host)) return isBogon(host);
  if (!host.includes(".") || localZone.test(host)) return true;
  return reverseEnds(host)?.every(isBogon) ?? !(hasPublicSuffix(host) || host.endsWith(".example"));
}

/** Locally served zones under `arpa`: RFC 8375, RFC 9462, RFC 9665. */
const localZone = /(?:^|\.)(?:home|resolver|service)\.arpa$/;
