import { domainToASCII } from "node:url";
import { parse } from "tldts";
import { isPortOrNothing } from "./ip.js";
import { strip } from "./refang.js";

/** A host name in normal form, split at its public suffix. */
export interface Hostname {
  /** Lower case, A-labels, no trailing dot. */
  readonly name: string;
  /** The part that was registered: one label and the public suffix. */
  readonly domain: string;
  readonly suffix: string;
}

/**
 * Reads a host name under a known public suffix (the ICANN part of the Public Suffix List, which
 * holds `onion` too).
 *
 * Underscores and hyphens at the ends of labels, which RFC 952 forbids to hosts but the DNS
 * carries, are let pass below the registered name, not in it: no registry gives them out.
 *
 * @returns null when the text is no host name, has no known suffix, or is a public suffix itself
 */
export function readHostname(text: string): Hostname | null {
  const name = toAscii(text);
  if (name === null || !hasValidLabels(name)) return null;
  const { domain, publicSuffix, isIcann } = parse(name, suffixOnly);
  if (isIcann !== true || domain === null || publicSuffix === null) return null;
  return registrable.test(domain) ? { name, domain, suffix: publicSuffix } : null;
}

/** True when the text is a public suffix by itself, such as `co.uk`. */
export function isPublicSuffix(text: string): boolean {
  const name = toAscii(text);
  if (name === null || !hasValidLabels(name)) return false;
  const { domain, isIcann } = parse(name, suffixOnly);
  return isIcann === true && domain === null;
}

const longestName = 253;
/** Characters of the input, before IDNA shortens or lengthens it; a name that is longer is none. */
const longestInput = 1024;

/** The text is a bare host name already, so tldts need not look for one in it. */
const suffixOnly = {
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
  mixedInputs: false,
};

const plain = /^[\w.-]+$/;
const registrable = /^[\da-z](?:[\da-z-]*[\da-z])?\./;
/** ASCII that no host name has. `domainToASCII` would decode `%41`, or cut at `/`. */
const foreign = /[^\w.\u0080-\u{10ffff}-]/u;

/** Lower case with A-labels (UTS 46 as the WHATWG has it), without a trailing dot; null when none. */
function toAscii(text: string): string | null {
  if (text.length > longestInput) return null;
  let name: string;
  if (plain.test(text)) {
    name = text.toLowerCase();
    // A-labels that decode to nothing valid are refused, as every resolver library does.
    if (name.includes("xn--") && domainToASCII(name) !== name) return null;
  } else {
    if (foreign.test(text)) return null;
    name = domainToASCII(text);
  }
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** At least two labels of 1 to 63 letters, digits, hyphens and underscores. */
const labels = /^(?:[\w-]{1,63}\.)+[\w-]{1,63}$/;

function hasValidLabels(name: string): boolean {
  return name.length <= longestName && labels.test(name);
}

/**
 * Reads a domain or host name under a known public suffix: lower case, A-labels, no trailing dot.
 * A port behind it is dropped (`example.com:8080`).
 *
 * A name that could be a file as well (`install.sh`) is a domain where its ending is a public
 * suffix: asking for a file costs a request, not asking for a domain costs the answer.
 *
 * @param labelled true when the input itself says that this is a domain: then a space beside a dot
 *   goes (`example. com`, which may as well be the end of a sentence)
 * @returns the normal form, or null when the text is no domain
 */
export function readDomain(text: string, labelled: boolean): string | null {
  const host = readHostAndPort(labelled ? closeUpDots(text) : text);
  return host === null ? null : host.name;
}

const spacedDot = / ?\. ?/g;

function closeUpDots(text: string): string {
  return text.includes(" ") ? text.replace(spacedDot, ".") : text;
}

function readHostAndPort(text: string): Hostname | null {
  const colon = text.indexOf(":");
  if (colon < 0) return readHostname(text);
  return isPortOrNothing(text, colon) ? readHostname(text.slice(0, colon)) : null;
}

/**
 * Reads an e-mail address: the local part as written, the domain as for domains. `mailto:` and what
 * follows its `?` go. Quoted local parts and address literals (`user@[192.0.2.1]`) are none.
 *
 * @returns the normal form, or null when the text is no e-mail address
 */
export function readEmail(text: string): string | null {
  if (!text.includes("@")) return null;
  const address = mailto.test(text) ? addressOfMailto(text) : text;
  const at = address.indexOf("@");
  if (at < 1 || at > longestLocalPart) return null;
  const local = address.slice(0, at);
  const host = localPart.test(local) ? readHostname(address.slice(at + 1)) : null;
  return host === null ? null : `${local}@${host.name}`;
}

const mailto = /^mailto:/i;
/** RFC 5321 says 64 octets; addresses of mailing lists and bounces are longer and are delivered. */
const longestLocalPart = 256;
/** A dot-atom (RFC 5322, with the letters of RFC 6532) in generous reading; `/` is left to URLs. */
const localPart = /^[^\s"(),:;<>@[\]\\/]+$/;

function addressOfMailto(text: string): string {
  const query = text.indexOf("?");
  return strip(text.slice("mailto:".length, query < 0 ? undefined : query));
}
