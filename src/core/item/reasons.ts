import type { Recognition } from "./item.js";

/**
 * Every reason why a text is no item, by its stable code, with the sentence for a person. The text
 * itself is not in the sentence: it stands in the row.
 */
export const unsupportedReasons = {
  empty: "there is no item in the cell",
  not_text: "not text but an array, an object, a number or a boolean",
  too_long: "longer than 8 KiB once percent-encoded, which is more than a request can carry",
  control_character: "has a control character inside, which no item can have",
  lone_surrogate: "has half of a surrogate pair inside, which cannot be percent-encoded",
  several: "more than one item in the cell; write one to a row",
  md5: "an MD5 hash; the interface knows SHA1 only",
  sha224: "a SHA224 hash; the interface knows SHA1 only",
  sha256: "a SHA256 hash; the interface knows SHA1 only",
  sha384: "a SHA384 hash; the interface knows SHA1 only",
  sha512: "a SHA512 hash; the interface knows SHA1 only",
  hex_length: "hex digits, but not the 40 of a SHA1 hash",
  cidr: "a network in CIDR notation; the interface knows single addresses only",
  ip_range: "a range of addresses; the interface knows single addresses only",
  ip_zone: "an IPv6 address with a zone, which means something on one machine only",
  ip_leading_zero: "a dotted quad with leading zeros, which readers take for different addresses",
  ip_octet: "four numbers with dots, but one is above 255",
  url_scheme: "a URL whose scheme is not http, https or ftp",
  url_syntax: "begins like a URL, but is none",
  email_syntax: "has an @, but is no e-mail address under a known public suffix",
  wallet_checksum: "looks like a wallet address, but its checksum does not match",
  wildcard: "a host name with a wildcard; the interface knows single names only",
  public_suffix: "a public suffix, under which others register names; no domain itself",
  unknown_suffix: "a dotted name, but no domain under a known public suffix",
  file_name: "reads as a file name (for a domain, say so in a kind column)",
  path: "a file or URL path without a host",
  registry_key: "a Windows registry key",
  asn: "an autonomous system number",
  text: "text that is none of IP address, domain, URL, SHA1, wallet or e-mail address",
} as const satisfies Record<string, string>;

export type UnsupportedCode = keyof typeof unsupportedReasons;

/** The recognition of a text that is no item, for this reason. */
export function unsupported(code: UnsupportedCode): Recognition {
  return { item: null, reason: { code, message: unsupportedReasons[code] } };
}
