import { ReputeError } from "../core/errors.js";

/** Why no answer could be had, or none that could be read to its end. */
export type TransportFault =
  | "connect_refused"
  | "connect_timeout"
  | "connect_failed"
  | "dns_failure"
  | "proxy_failure"
  | "tls_failure"
  | "certificate_rejected"
  | "connection_reset"
  | "timeout"
  | "truncated_body"
  | "body_too_large"
  | "invalid_http"
  | "unreadable_encoding";

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

  /** Whether another attempt can bring an answer: not when the answer itself or its sender is at fault. */
  get passing(): boolean {
    return this.code !== "body_too_large" && this.code !== "certificate_rejected";
  }
}

/** Names what undici, Node.js or the resolver reported, in words for a person. */
export function transportErrorOf(
  error: unknown,
  origin: string,
  httpStatus: number | null,
): TransportError {
  const code = codeOf(error);
  const fault = isReadTimeout(error) ? "timeout" : faultOf(code, httpStatus !== null);
  const detail = code === null ? "" : ` (${code})`;
  return new TransportError(fault, `${describe[fault](origin)}${detail}`, {
    cause: error,
    httpStatus,
  });
}

const describe: Readonly<Record<TransportFault, (origin: string) => string>> = {
  connect_refused: (origin) => `${origin} refused the connection`,
  connect_timeout: (origin) => `no connection to ${origin} within the time allowed`,
  connect_failed: (origin) => `no connection to ${origin}`,
  dns_failure: (origin) => `the name in ${origin} could not be resolved`,
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

function faultOf(code: string | null, answered: boolean): TransportFault {
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
