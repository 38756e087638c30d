import { isIPv4 } from "node:net";
import { readHostname } from "./hostname.js";
import { isPortOrNothing, readIpv6 } from "./ip.js";
import { mayBeDefanged, refang, strip } from "./refang.js";

/**
 * Reads a URL with the scheme http, https or ftp, as the WHATWG parses it, and gives its href:
 * `HTTP://Example.com` becomes `http://example.com/`. User information and fragment stay: they are
 * part of the indicator.
 *
 * Without a scheme it is a URL with `http://` when an address or a host under a known public suffix
 * comes first and a path, query or fragment follows (`192.0.2.1/24` is a network and not a URL).
 *
 * @param labelled true when the input itself says that this is a URL: then the path may lack
 * @returns the normal form, or null when the text is no URL
 */
export function readUrl(text: string, labelled: boolean): string | null {
  if (scheme.test(text)) return severalUrls.test(text) ? null : toHref(text);
  return isUrlWithoutScheme(text, labelled) ? toHref(`http://${text}`) : null;
}

/** True when the text has the form of an IP address and a prefix length or netmask. */
export function isNetwork(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0 || slash > longestAddress || text.length - slash > longestAddress) return false;
  const address = text.slice(0, slash);
  const prefix = text.slice(slash + 1);
  if (isIPv4(address)) return isIPv4(prefix) || isPrefixLength(prefix, 32);
  return address.includes(":") && isPrefixLength(prefix, 128) && readIpv6(address) !== null;
}

const scheme = /^(?:https?|ftp):/i;
const severalUrls = /\s(?:https?|ftp|hxxps?):\/\//i;
const afterAuthority = /[/?#]/;
const space = /\s/;
const longestAddress = 48;
/** The WHATWG parser settles at once; only what it makes of brackets may be a defanged token again. */
const rounds = 4;

function isUrlWithoutScheme(text: string, labelled: boolean): boolean {
  const end = text.search(afterAuthority);
  if (end === 0 || (end < 0 && !labelled) || space.test(text)) return false;
  if (!labelled && isNetwork(text)) return false;
  return isHostAndPort(end < 0 ? text : text.slice(0, end));
}

function isHostAndPort(authority: string): boolean {
  if (authority.startsWith("[")) {
    const close = authority.indexOf("]");
    return (
      close > 0 &&
      isPortOrNothing(authority, close + 1) &&
      readIpv6(authority.slice(1, close)) !== null
    );
  }
  const colon = authority.indexOf(":");
  if (colon >= 0 && !isPortOrNothing(authority, colon)) return false;
  const host = colon < 0 ? authority : authority.slice(0, colon);
  return isIPv4(host) || readHostname(host) !== null;
}

function isPrefixLength(text: string, longest: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= longest;
}

/**
 * The href that stays itself when it is read again. `http://example.com/[/./]` parses to
 * `http://example.com/[/]`, in which `[/]` is a defanged slash.
 */
function toHref(text: string): string | null {
  let href = parseHref(text);
  for (let round = 0; round < rounds && href !== null && mayBeDefanged(href); round++) {
    const again: string | null = parseHref(strip(refang(href)));
    if (again === href) return href;
    href = again;
  }
  return href === null || mayBeDefanged(href) ? null : href;
}

function parseHref(text: string): string | null {
  try {
    return new URL(text).href;
  } catch {
    return null;
  }
}
