import { brotliDecompressSync, inflateRawSync, unzipSync } from "node:zlib";
import { TransportError } from "./transport-error.js";
import type { Answer } from "../types.js";

const decoders: ReadonlyMap<string, typeof unzipSync> = new Map([
  ["gzip", unzipSync],
  ["x-gzip", unzipSync],
  ["deflate", inflateAny],
  ["br", brotliDecompressSync],
  ["identity", (body) => body as Buffer<ArrayBuffer>],
]);

/** Some servers send `deflate` without its zlib header (RFC 9110 section 8.4.1.2), or gzip in its place. */
function inflateAny(...[body, options]: Parameters<typeof unzipSync>): Buffer<ArrayBuffer> {
  const [first = 0, second = 0] = body as Buffer;
  const isZlib = (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
  const isGzip = first === 0x1f && second === 0x8b;
  return isZlib || isGzip ? unzipSync(body, options) : inflateRawSync(body, options);
}

/**
 * Decodes a body's content codings (RFC 9110 section 8.4). None is requested, but some servers and
 * proxies apply some anyway.
 *
 * @param maxBytes maximum decoded size; decoding stops beyond it
 * @throws TransportError `body_too_large`, `truncated_body` or `unreadable_encoding`
 */
export function decodeBody(
  { status: httpStatus, headers, body }: Answer,
  maxBytes: number,
  origin: string,
): Buffer {
  const codings = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (body.length === 0 || codings === "identity") return body;
  try {
    // They are listed in the order in which they were applied.
    return codings.split(",").reduceRight<Buffer>((decoded, coding) => {
      const decode = decoders.get(coding.trim());
      if (decode === undefined) throw new Error("unknown coding");
      return decode(decoded, { maxOutputLength: maxBytes });
    }, body);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") {
      const message = `the answer of ${origin} is larger than ${maxBytes} bytes when decoded`;
      throw new TransportError("body_too_large", message, { cause, httpStatus });
    }
    if (code === "Z_BUF_ERROR") {
      const message = `${origin} ended its answer before it was complete`;
      throw new TransportError("truncated_body", message, { cause, httpStatus });
    }
    const message = `the answer of ${origin} has an encoding that cannot be decoded`;
    throw new TransportError("unreadable_encoding", message, { cause, httpStatus });
  }
}
