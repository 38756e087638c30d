import { transportCodes } from "../../core/error-codes/service-codes.js";
import { ReputeError } from "../../core/errors.js";

/** Why no answer arrived, or none that could be read to its end. */
export type TransportFault = keyof typeof transportCodes;

/** One attempt that brought no answer. `code` is a `TransportFault`. */
export class TransportError extends ReputeError {
  declare readonly code: TransportFault;
  /** HTTP status, when the answer broke off behind its headers; null otherwise. */
  readonly httpStatus: number | null;

  constructor(
    code: TransportFault,
    message: string,
    options: { readonly cause?: unknown; readonly httpStatus?: number | null } = {},
  ) {
    super(code, message, options);
    this.httpStatus = options.httpStatus ?? null;
  }

  /** Whether another attempt may bring an answer. */
  get passing(): boolean {
    return transportCodes[this.code].length > 2;
  }
}

/** Where a request went. */
export interface Peer {
  readonly origin: string;
  /** The proxy in between, for messages; null without one. */
  readonly proxy: string | null;
}

/** Names what undici, Node.js or the resolver reported, in words for a person. */
export function transportErrorOf(
  error: unknown,
  { origin, proxy }: Peer,
  httpStatus: number | null,
): TransportError {
  const code = codeOf(error);
  const fault = isReadTimeout(error) ? "timeout" : faultOf(error, code, httpStatus !== null);
  const detail = code === null || code === "ERR_ASSERTION" ? "" : ` (${code})`;
  const options = { cause: error, httpStatus };
  if (proxy !== null && connecting.has(fault)) {
    // All connections are made to the proxy.
    const message = `${describe[fault](`the proxy ${proxy}`)}${detail}`;
    return new TransportError("proxy_failure", message, options);
  }
  if (fault === "proxy_failure" && proxy !== null) {
    const message = `the proxy ${proxy} made no connection to ${origin}${detail}`;
    return new TransportError(fault, message, options);
  }
  return new TransportError(fault, `${describe[fault](origin)}${detail}`, options);
}

const connecting: ReadonlySet<TransportFault> = new Set([
  "connect_refused",
  "connect_timeout",
  "connect_failed",
  "dns_failure",
]);

const describe: Readonly<Record<TransportFault, (origin: string) => string>> = {
  connect_refused: (origin) => `${origin} refused the connection`,
  connect_timeout: (origin) => `no connection to ${origin} within the time allowed`,
  connect_failed: (origin) => `no connection to ${origin}`,
  dns_failure: (origin) => `the host name of ${origin} could not be resolved`,
  proxy_failure: (origin) => `the proxy made no connection to ${origin}`,
  tls_failure: (origin) => `no TLS connection to ${origin}`,
  certificate_rejected: (origin) => `the certificate of ${origin} is not trusted`,
  connection_reset: (origin) => `${origin} closed the connection without an answer`,
  timeout: (origin) => `${origin} did not answer in full within the time allowed`,
  truncated_body: (origin) => `${origin} ended its answer before it was complete`,
  body_too_large: (origin) => `the answer of ${origin} is too large`,
  invalid_http: (origin) => `the answer of ${origin} is not valid HTTP`,
  unreadable_encoding: (origin) =>
    `the answer of ${origin} is encoded in a way that cannot be read`,
  out_of_memory: (origin) =>
    `no memory for connections to ${origin}: the limit on address space (ulimit -v) is too low`,
};

const faults: ReadonlyMap<string, TransportFault> = new Map<string, TransportFault>([
  ["ECONNREFUSED", "connect_refused"],
  ["ENOTFOUND", "dns_failure"],
  ["EAI_AGAIN", "dns_failure"],
  ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout"],
  ["ETIMEDOUT", "connect_timeout"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["UND_ERR_BODY_TIMEOUT", "timeout"],
  ["EPROTO", "tls_failure"],
  ["ECONNRESET", "connection_reset"],
  ["EPIPE", "connection_reset"],
  ["UND_ERR_SOCKET", "connection_reset"],
  ["UND_ERR_DESTROYED", "connection_reset"],
  ["UND_ERR_CLOSED", "connection_reset"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "truncated_body"],
  ["HPE_INVALID_EOF_STATE", "truncated_body"],
  ["UND_ERR_HEADERS_OVERFLOW", "invalid_http"],
  ["UND_ERR_PRX_TLS", "proxy_failure"],
  // undici's words for a proxy that answers CONNECT with anything but 200, or with 407.
  ["UND_ERR_ABORTED", "proxy_failure"],
  ["UND_ERR_INVALID_ARG", "proxy_failure"],
  ["HOSTNAME_MISMATCH", "certificate_rejected"],
]);

/** What OpenSSL's verification and Node's host name check report as codes (Node.js: tls, X509 certificate error codes). */
const certificateCode =
  /^(?:CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERR_TLS_CERT_)/;

function faultOf(error: unknown, code: string | null, answered: boolean): TransportFault {
  // undici's parser is WebAssembly, which wants gigabytes of addresses.
  if (error instanceof RangeError && /memory/i.test(error.message)) return "out_of_memory";
  // An answer with a status below 100, and interim answers that undici does not know.
  if (code === "ERR_ASSERTION" || isBadAnswer(error)) return "invalid_http";
  if (code === null) return answered ? "invalid_http" : "connect_failed";
  const fault = faults.get(code);
  if (fault !== undefined) {
    return fault === "connection_reset" && answered ? "truncated_body" : fault;
  }
  if (certificateCode.test(code)) return "certificate_rejected";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls_failure";
  if (code.startsWith("HPE")) return "invalid_http";
  return answered ? "truncated_body" : "connect_failed";
}

/** undici's words for an interim answer that it does not take (100, 101). */
function isBadAnswer(error: unknown): boolean {
  return error instanceof Error && /^bad (?:response|upgrade)$/.test(error.message);
}

/** The same code names a connection that was not made and one that fell silent. */
function isReadTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    "syscall" in error &&
    error.syscall === "read" &&
    codeOf(error) === "ETIMEDOUT"
  );
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  // undici's parser gives some of its errors no code.
  return error.name === "HTTPParserError" ? "HPE" : null;
}
