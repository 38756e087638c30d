import { readHostname } from "./hostname.js";
import { strip } from "./strip.js";

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
