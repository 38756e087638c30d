const retried = "up to `--retries` times";

/** No answer arrived, or none that could be read to its end. */
export const transportCodes = {
  connect_refused: [
    "the service refused the connection",
    "check the address and port, and that the service runs",
    retried,
  ],
  connect_timeout: ["connecting took longer than --timeout", "check the network", retried],
  connect_failed: ["the connection failed", "check the address and the network", retried],
  dns_failure: [
    "the host name could not be resolved",
    "check the spelling of the address, and DNS",
    `${retried}, twice before the first answer`,
  ],
  proxy_failure: [
    "the proxy did not connect to the service",
    "check the proxy, or list the service in NO_PROXY to bypass it",
    retried,
  ],
  tls_failure: [
    "the TLS handshake failed",
    "check that the address is https:// and the port speaks TLS",
    retried,
  ],
  certificate_rejected: [
    "the certificate is not trusted, has expired or is for another host",
    "check the address and the clock; add a private CA with NODE_EXTRA_CA_CERTS",
  ],
  connection_reset: ["the connection closed before an answer", "run again later", retried],
  timeout: ["no answer came within --timeout", "raise --timeout or lower --concurrency", retried],
  truncated_body: ["the answer ended before it was complete", "run again later", retried],
  body_too_large: ["the answer is larger than 8 MiB", "check that the address is the service's"],
  invalid_http: ["the answer is not valid HTTP", "check that address and port speak HTTP", retried],
  unreadable_encoding: [
    "the answer's Content-Encoding cannot be decoded",
    "check the proxies in front of the service",
    retried,
  ],
  out_of_memory: [
    "there is no memory left for connections",
    "raise the limit on address space: ulimit -v unlimited",
  ],
} as const;

/** An answer arrived but is not data, or the run can no longer ask. */
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
  unauthorized: ["the service answered 401: the key is missing or wrong", "check the key"],
  forbidden: ["the service answered 403: the key has no access", "check the key's rights"],
  authentication_failed: [
    "an answer says Authentication Failed",
    "generate an API key in the case management product and send it as Bearer",
  ],
  rejected: ["the service answered 400 to a request for a tag", "check the tag's name"],
  service_outage: [
    "the service answered with nothing but errors for too long; the run stopped",
    "continue with --resume when it is back",
    retried,
  ],
  service_unreachable: [
    "the service does not answer; the run stopped",
    "check the address and the network, then continue with --resume",
    retried,
  ],
  wrong_service: ["all first answers were 404", "check the address: does it end in /beta?"],
  invalid_address: ["not an http(s) address without query and fragment", "correct the address"],
  invalid_credential: [
    "the key is empty or has characters that a header cannot carry",
    "store the key alone, on one line",
  ],
  invalid_proxy: ["not the address of an HTTP proxy", "write it as http://HOST:PORT"],
  requests_spent: ["--max-requests is used up", "continue with --resume and a new budget"],
  deadline_reached: ["--deadline is reached; the run stopped", "continue with --resume"],
  quota_uncounted: [
    "the count of a quota cannot be kept in the state folder; nothing was sent",
    "set XDG_STATE_HOME to a folder that you can write",
  ],
  quota_used_up: [
    "a quota of --rate is used up; the run stopped",
    "continue with --resume at the time the message names",
  ],
  interrupted: ["a signal stopped the run", "continue with --resume"],
  too_many_failed: [
    "more rows failed than --max-failed allows; the earlier output is untouched",
    "see rep_error_code in OUT.failed",
  ],
  cursor_repeated: [
    "the customers list repeats a page, so it may be incomplete",
    "report it to the operator of the service",
  ],
  invalid_limit: ["a page limit outside the interface's bounds", "use 1 to 10000"],
  invalid_offset: ["a page offset below 0 or not a whole number", "use 0 or more"],
  invalid_snapshot: ["not a snapshot token", "pass the 24 characters of an earlier answer"],
} as const;
