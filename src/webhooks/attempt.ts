import { request, type Dispatcher } from "undici";
import { CredentialMask } from "../core/credential-mask.js";
import type { PreparedCall } from "./prepare.js";

/** What one attempt came to: an answer, whatever its status, or a fault on the way. */
export type Attempt = Answer | TransportFault;

export interface Answer {
  readonly kind: "answer";
  readonly status: number;
  readonly retryAfter: string | null;
  readonly location: string | null;
  readonly allow: string | null;
  /** The beginning of the body, the API key blotted out where the server echoes it. */
  readonly body: string;
  /** True when the body went on, or broke off. */
  readonly truncated: boolean;
}

interface TransportFault {
  readonly kind: "fault";
  /** Stable: `timeout`, `connection_refused`, `connection_reset`, `host_not_found`, `tls`, `network`. */
  readonly code: string;
  readonly message: string;
  /** Whether another attempt could end better. */
  readonly passing: boolean;
}

export interface AttemptOptions {
  readonly dispatcher: Dispatcher;
  /** From connecting to the last byte that is read, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | null;
}

/** Bytes of a character, at most, with JSON's escapes: `\u006b`. */
const longestSpelling = 6;

/** Most that is kept of an answer's body: it is for explanations. */
const keptBodyBytes = 64 * 1024;

/**
 * Makes a call once. Redirects are not followed (behaviour: Answers).
 *
 * @throws the signal's reason when it aborts; what undici throws for misuse (a closed dispatcher)
 */
export async function attemptCall(
  call: PreparedCall,
  { dispatcher, timeoutMs, signal }: AttemptOptions,
): Promise<Attempt> {
  signal?.throwIfAborted();
  const deadline = new AbortController();
  // Real time, as in undici itself: what it bounds is the wait for a real peer.
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const response = await request(call.url, {
      dispatcher,
      method: call.shown.method,
      headers: call.headers,
      body: call.body,
      signal: signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal,
      // One deadline for the whole attempt stands in for undici's two.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const mask = call.apiKey === null ? null : new CredentialMask(call.apiKey);
    const shown = (text: string): string => mask?.inText(text) ?? text;
    const { bytes, truncated } = await readBeginning(response.body, call.apiKey);
    const location = single(response.headers["location"]);
    const allow = single(response.headers["allow"]);
    signal?.throwIfAborted();
    return {
      kind: "answer",
      status: response.statusCode,
      retryAfter: single(response.headers["retry-after"]),
      location: location === null ? null : shown(location),
      allow: allow === null ? null : shown(allow),
      body: shown(bytes.toString("utf8")).slice(0, keptBodyBytes),
      truncated,
    };
  } catch (error) {
    signal?.throwIfAborted();
    if (deadline.signal.aborted) {
      const message = `no answer within ${timeoutMs / 1000} s`;
      return { kind: "fault", code: "timeout", message, passing: true };
    }
    return transportFault(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The status has come: a body that breaks off changes nothing about it. */
async function readBeginning(
  stream: AsyncIterable<Buffer>,
  apiKey: string | null,
): Promise<{ bytes: Buffer; truncated: boolean }> {
  const chunks: Buffer[] = [];
  // So much more that a key across the cut is seen whole and blotted out.
  const enough = keptBodyBytes + longestSpelling * (apiKey?.length ?? 0);
  let bytes = 0;
  let truncated = false;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > enough) break;
    }
  } catch {
    truncated = true;
  }
  return { bytes: Buffer.concat(chunks), truncated: truncated || bytes > keptBodyBytes };
}

function transportFault(error: unknown): TransportFault {
  const code = errorCode(error);
  if (code === "" || misuse.has(code)) throw error;
  if (/^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(code)) {
    const message = `TLS failed: the certificate or the protocol was not accepted (${code})`;
    return { kind: "fault", code: "tls", message, passing: false };
  }
  const [name, message] = known.get(code) ?? ["network", "the connection failed"];
  return { kind: "fault", code: name, message: `${message} (${code})`, passing: true };
}

/** Happy eyeballs wraps the faults of several addresses; the first one tells. */
function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string") return code;
  return error instanceof AggregateError ? errorCode(error.errors[0]) : errorCode(error.cause);
}

const misuse: ReadonlySet<string> = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

const known: ReadonlyMap<string, readonly [code: string, message: string]> = new Map([
  ["ECONNREFUSED", ["connection_refused", "the connection was refused"]],
  ["ECONNRESET", ["connection_reset", "the connection was reset"]],
  ["EPIPE", ["connection_reset", "the connection was reset"]],
  ["UND_ERR_SOCKET", ["connection_reset", "the connection was closed before the answer"]],
  ["ENOTFOUND", ["host_not_found", "there is no such host"]],
  ["EAI_AGAIN", ["host_not_found", "the host's name could not be resolved"]],
  ["UND_ERR_CONNECT_TIMEOUT", ["timeout", "no connection came about in time"]],
  ["ETIMEDOUT", ["timeout", "no connection came about in time"]],
]);

function single(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
