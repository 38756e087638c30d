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
    "contains a control character or half of a surrogate pair, which no item can have",
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
  url_scheme: [
    "a URL whose scheme is not http, https, ftp, ws or wss, without a host to look up",
    "write the item alone",
  ],
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
  unknown_suffix: [
    "a name with dots that is not below a known public suffix",
    "check the spelling; internal names cannot be looked up",
  ],
  internal_host: [
    "a host that is not public: an address in a reserved range or the reverse name of one, or an internal name",
    "nothing; it must not be sent, and a service could not know it",
  ],
  excluded: [
    "on a list of what must not be sent",
    "nothing; remove it from the list given with --exclude to send it",
  ],
  tlp: [
    "the TLP mark of the row is above the limit, unknown or missing",
    "nothing; raise --max-tlp to send it",
  ],
  file_name: [
    "looks like a file name (if it is a domain, say so in a kind column)",
    "look up the file's SHA1, or give --kind-column",
  ],
  path: ["a path without a host", "add the host to make it a URL"],
  prose: [
    "text with an item inside",
    "find the items: repute extract FILE | repute enrich - -o OUT",
  ],
  text: [
    "text that is not an IP address, domain, URL, SHA1 hash, wallet or e-mail address",
    "check that --item-column names the right column",
  ],
} as const;

const retried = "up to `--retries` times";

/** No answer arrived, or none that could be read to its end. Messages name the service. */
export const transportCodes = {
  connect_refused: [
    "the service refused the connection",
    "check the address and port, and that the service runs",
    retried,
  ],
  connect_timeout: ["connecting to the service timed out", "check the network", retried],
  connect_failed: ["cannot connect to the service", "check the address and the network", retried],
  dns_failure: [
    "the host name of the service could not be resolved",
    "check the spelling of the address, and DNS",
    `${retried}, twice before the first answer`,
  ],
  proxy_failure: [
    "the proxy did not connect to the service",
    "check the proxy, or list the service in NO_PROXY to bypass it",
    retried,
  ],
  tls_failure: [
    "the TLS handshake with the service failed",
    "check that the address is https:// and the port speaks TLS",
    retried,
  ],
  certificate_rejected: [
    "the certificate of the service is not trusted, has expired or is for another host",
    "check the address and the clock; add a private CA with NODE_EXTRA_CA_CERTS",
  ],
  connection_reset: ["the service closed the connection", "run again later", retried],
  timeout: ["the service timed out", "raise --timeout or lower --concurrency", retried],
  truncated_body: ["the service ended its answer too early", "run again later", retried],
  body_too_large: [
    "the answer of the service is larger than 8 MiB",
    "check that the address is the service's",
  ],
  invalid_http: [
    "the answer of the service is not valid HTTP",
    "check that address and port speak HTTP",
    retried,
  ],
  unreadable_encoding: [
    "the answer of the service has an encoding that cannot be decoded",
    "check the proxies in front of the service",
    retried,
  ],
  out_of_memory: [
    "out of memory for connections to the service: the limit on address space (ulimit -v) is too low",
    "raise the limit on address space: ulimit -v unlimited",
  ],
} as const;

/** No usable answer: none arrived, or it is not data. */
export const serviceCodes = {
  ...transportCodes,
  http_NNN: [
    "the service answered with HTTP status NNN, such as http_404, and without data",
    "404: check the address; 429 and 5xx: lower --rate, run again later",
    "408, 425, 429 and 5xx: up to `--retries` times",
  ],
  invalid_item: [
    "the service answered 400: it rejects the item; the message is the service's own",
    "correct the item",
  ],
  response_schema: [
    "the answer does not follow the interface, for example a proxy's error page",
    "check the address, and proxies in between",
    "once",
  ],
  response_mismatch: [
    "the answer is about another item or kind of item",
    "check proxies and caches in front of the service",
    "once",
  ],
  not_asked: [
    "the run has fewer rows than --min-rows allows, so nothing was asked",
    "check the export that makes the input; --min-rows 0 accepts it",
  ],
} as const;

/**
 * Codes that rows of an output have: what each means, what the user can do, and how repute retries
 * before it reports the code. Without the third, it doesn't retry.
 */
export const rowCodes = {
  ...itemCodes,
  input_row: ["the line is not a record; the row failed", "correct the line"],
  ...serviceCodes,
} as const;
