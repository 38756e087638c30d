import { isCertificateFault } from "../../../core/files/system-fault.js";
import { transportCodes } from "../../../core/row-codes.js";
import { ServiceError, type ServiceErrorOptions } from "../status-fault.js";

/** Why a request got no complete answer. */
export type TransportFault = keyof typeof transportCodes;

/** A request got no complete answer. Has `httpStatus` if the headers arrived. */
export class TransportError extends ServiceError {
  declare readonly code: TransportFault;

  constructor(
    code: TransportFault,
    message: string,
    { cause, httpStatus = null }: Pick<ServiceErrorOptions, "cause" | "httpStatus"> = {},
  ) {
    const mayPass = transportCodes[code].length > 2;
    const again = mayPass ? ({ policy: "transient", afterMs: null } as const) : null;
    super(code, message, { cause, httpStatus, again });
  }
}

interface Peer {
  readonly origin: string;
  /** The proxy in between, for messages; null without one. */
  readonly proxy: string | null;
}

export function transportErrorOf(
  error: unknown,
  { origin, proxy }: Peer,
  httpStatus: number | null,
): TransportError {
  const code = codeOf(error);
  const fault = faultOf(error, code, httpStatus !== null);
  const detail = code === null || code === "ERR_ASSERTION" ? "" : ` (${code})`;
  const options = { cause: error, httpStatus };
  // Behind a proxy, the only connection that can fail this way is the one to it.
  const isOfProxy = proxy !== null && connecting.has(fault);
  const what = describeFault(fault, isOfProxy ? `the proxy ${proxy}` : origin);
  const named = proxy === null ? what : what.replace(/^the proxy (?=did)/, `the proxy ${proxy} `);
  return new TransportError(isOfProxy ? "proxy_failure" : fault, named + detail, options);
}

/** The message of a fault. @param peer an origin, or `the proxy …` */
export function describeFault(fault: TransportFault, peer: string): string {
  return transportCodes[fault][0].replace("the service", peer);
}

const connecting: ReadonlySet<TransportFault> = new Set([
  "connect_refused",
  "connect_timeout",
  "connect_failed",
  "dns_failure",
]);

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
  // undici's codes for a proxy that answers CONNECT with 407, or any other status but 200.
  ["UND_ERR_ABORTED", "proxy_failure"],
  ["UND_ERR_INVALID_ARG", "proxy_failure"],
  ["HOSTNAME_MISMATCH", "certificate_rejected"],
]);

/** undici's messages for answers that it rejects, such as an unasked 101. */
const badAnswer = /^bad (?:response|upgrade)$/;

function faultOf(error: unknown, code: string | null, answered: boolean): TransportFault {
  const text = error instanceof Error ? error.message : "";
  // undici's WebAssembly parser reserves gigabytes of address space.
  if (error instanceof RangeError && /memory/i.test(error.message)) return "out_of_memory";
  // A status below 100, or an interim answer that undici doesn't know.
  if (code === "ERR_ASSERTION" || badAnswer.test(text)) return "invalid_http";
  if (code === null) return answered ? "invalid_http" : "connect_failed";
  // A connect that timed out has the same code.
  if (code === "ETIMEDOUT" && (error as NodeJS.ErrnoException).syscall === "read") return "timeout";
  const fault = faults.get(code);
  if (fault !== undefined) {
    return fault === "connection_reset" && answered ? "truncated_body" : fault;
  }
  if (isCertificateFault(code)) return "certificate_rejected";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls_failure";
  if (code.startsWith("HPE")) return "invalid_http";
  return answered ? "truncated_body" : "connect_failed";
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  // Some errors of undici's parser have no code.
  return error.name === "HTTPParserError" ? "HPE" : null;
}
