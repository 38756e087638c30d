import type { Dispatcher } from "undici";
import type { Answer } from "../types.js";
import { createDispatcher } from "./dispatcher.js";
import { proxyOf } from "./proxy.js";
import {
  describeFault,
  TransportError,
  type TransportFault,
  transportErrorOf,
} from "./transport-error.js";
import { brotliDecompressSync, inflateRawSync, unzipSync } from "node:zlib";

/** A request to an address of the user's own: a webhook's receiver, or a monitor. */
interface OneRequest {
  readonly url: URL;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly authorization: string | null;
  /** From connecting to the last byte read, in milliseconds. */
  readonly timeoutMs: number;
  /** Reading stops once the body has more bytes than this. */
  readonly keptBytes: number;
  /** Source of the proxy's address. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Makes one request over its own connection, without following redirects. Succeeds once there is a
 * status, even if the body is longer than what is kept or breaks off.
 *
 * @returns the answer with the beginning of its body
 * @throws TransportError; UsageError for an unusable proxy; the signal's reason if aborted
 */
export async function sendOnce(request: OneRequest, signal: AbortSignal): Promise<Answer> {
  const { url, method, authorization, timeoutMs, keptBytes, env } = request;
  const { origin, pathname, search } = url;
  const dispatcher = createDispatcher(origin, { connections: 1, ...(env && { env }) });
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, headers, ...answer } = await dispatcher.request({
      origin,
      path: pathname + search,
      method,
      headers: { ...request.headers, ...(authorization !== null && { authorization }) },
      body: request.body,
      signal: AbortSignal.any([signal, late]),
    });
    const body = await beginningOf(answer.body, keptBytes);
    signal.throwIfAborted();
    const received = { status: statusCode, headers, body };
    const decoded = decodeBody(received, keptBytes, origin);
    // As received if it cannot be decoded, for example because it was cut.
    return decoded instanceof TransportError ? received : { ...received, body: decoded };
  } catch (error) {
    signal.throwIfAborted();
    if (late.aborted) {
      const message = `${origin} did not answer within ${timeoutMs / 1000} s`;
      throw new TransportError("timeout", message, { cause: error });
    }
    throw transportErrorOf(error, { origin, proxy: proxyOf(dispatcher) }, null);
  } finally {
    await dispatcher.destroy();
  }
}

async function beginningOf(body: AsyncIterable<Buffer>, keptBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > keptBytes) break;
    }
  } catch {
    // The body broke off: keep what arrived.
  }
  return Buffer.concat(chunks);
}

const decoders: ReadonlyMap<string, typeof unzipSync> = new Map([
  ["gzip", unzipSync],
  ["x-gzip", unzipSync],
  ["deflate", inflateAny],
  ["br", brotliDecompressSync],
]);

/** Some servers send `deflate` without its zlib header (RFC 9110 section 8.4.1.2), or gzip in its place. */
function inflateAny(...[body, options]: Parameters<typeof unzipSync>): Buffer<ArrayBuffer> {
  const [first = 0, second = 0] = body as Buffer;
  const isZlib = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
  const isGzip = first === 0x1f && second === 0x8b;
  return isZlib || isGzip ? unzipSync(body, options) : inflateRawSync(body, options);
}

/**
 * Decodes a body's content coding (RFC 9110 section 8.4). None is requested, but some servers and
 * proxies apply one anyway.
 *
 * @param maxBytes maximum decoded size; decoding stops beyond it
 * @returns the decoded body; or `body_too_large`, `truncated_body` or `unreadable_encoding`
 */
export function decodeBody(
  { status: httpStatus, headers, body }: Answer,
  maxBytes: number,
  origin: string,
): Buffer | TransportError {
  const coding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (body.length === 0 || coding === "identity") return body;
  try {
    const decode = decoders.get(coding);
    if (decode === undefined) throw new Error("unknown coding");
    return decode(body, { maxOutputLength: maxBytes });
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const fault = decodingFaults.get(code) ?? "unreadable_encoding";
    return new TransportError(fault, describeFault(fault, origin), { cause, httpStatus });
  }
}

const decodingFaults: ReadonlyMap<string, TransportFault> = new Map([
  ["ERR_BUFFER_TOO_LARGE", "body_too_large"],
  ["Z_BUF_ERROR", "truncated_body"],
]);
