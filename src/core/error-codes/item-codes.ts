/** Why a cell is `unsupported`. The meaning is the row's message, so it doesn't repeat the text. */
export const itemCodes = {
  empty: ["there is no item in the cell", "fill the cell, or choose another --item-column"],
  not_text: [
    "not text but an array, an object, a number or a boolean",
    "point --item-column at a member that holds text",
  ],
  too_long: [
    "longer than 8 KiB once percent-encoded, which is more than a request can carry",
    "shorten the item, for example to the URL without its query",
  ],
  control_character: [
    "contains a control character, which no item can have",
    "clean the cell; check the file's encoding",
  ],
  lone_surrogate: [
    "contains half of a surrogate pair, which cannot be percent-encoded",
    "clean the cell; check the file's encoding",
  ],
  several: [
    "more than one item in the cell; write one per row",
    "run repute extract FILE | repute enrich -, which finds each of them",
  ],
  md5: ["an MD5 hash; the interface knows SHA1 only", "look up the file's SHA1"],
  sha224: ["a SHA224 hash; the interface knows SHA1 only", "look up the file's SHA1"],
  sha256: ["a SHA256 hash; the interface knows SHA1 only", "look up the file's SHA1"],
  sha384: ["a SHA384 hash; the interface knows SHA1 only", "look up the file's SHA1"],
  sha512: ["a SHA512 hash; the interface knows SHA1 only", "look up the file's SHA1"],
  hex_length: ["hex digits, but not the 40 of a SHA1 hash", "check that the hash is complete"],
  cidr: [
    "a network in CIDR notation; the interface knows single addresses only",
    "list the addresses you care about",
  ],
  ip_range: [
    "a range of addresses; the interface knows single addresses only",
    "list the addresses you care about",
  ],
  ip_zone: [
    "an IPv6 address with a zone, which is valid on one machine only",
    "remove the zone, from % on",
  ],
  ip_leading_zero: [
    "an IPv4 address with leading zeros, which programs read differently",
    "write it without leading zeros",
  ],
  ip_octet: ["four numbers with dots, one of them above 255", "correct the address"],
  url_scheme: ["a URL whose scheme is not http, https, ftp, ws or wss", "look up its host instead"],
  url_syntax: ["starts like a URL but is not a valid one", "correct the URL"],
  email_syntax: [
    "contains an @ but is not an e-mail address under a known public suffix",
    "correct the address",
  ],
  wallet_checksum: [
    "looks like a wallet address, but its checksum does not match",
    "copy the address again; one character is wrong or missing",
  ],
  wildcard: [
    "a host name with a wildcard; the interface knows single names only",
    "look up the name without the wildcard",
  ],
  public_suffix: [
    "a public suffix, under which others register names; not a domain itself",
    "look up the registered name under it",
  ],
  unknown_suffix: [
    "a name with dots, but not a domain under a known public suffix",
    "check the spelling; internal names cannot be looked up",
  ],
  internal_host: [
    "a URL whose host is not public: an address in a reserved range, or a name without a known public suffix",
    "nothing; it must not be sent, and a service could not know it",
  ],
  excluded: [
    "on a list of what must not be sent",
    "nothing; remove it from the list given with --exclude to send it",
  ],
  file_name: [
    "looks like a file name (if it is a domain, say so in a kind column)",
    "look up the file's SHA1, or give --kind-column",
  ],
  path: ["a file or URL path without a host", "add the host to make it a URL"],
  registry_key: ["a Windows registry key", "nothing; the interface has no such kind"],
  asn: ["an autonomous system number", "look up addresses of the network"],
  prose: [
    "text with an item inside",
    "find the items: repute extract FILE | repute enrich - -o OUT",
  ],
  text: [
    "text that is not an IP address, domain, URL, SHA1 hash, wallet or e-mail address",
    "check that --item-column names the right column",
  ],
} as const;
