import { brotliDecompressSync, unzipSync } from "node:zlib";
import { TransportError } from "./transport-error.js";
import type { Answer } from "../types.js";

const decoders: ReadonlyMap<string, typeof unzipSync> = new Map([
  ["gzip", unzipSync],
  ["x-gzip", unzipSync],
  ["deflate", unzipSync],
  ["br", brotliDecompressSync],
]);

/**
 * Decodes a body's content coding (RFC 9110 section 8.4). None is requested, but some servers and
 * proxies apply one anyway.
 *
 * @param maxBytes maximum decoded size; decoding stops beyond it
 * @throws TransportError `body_too_large`, `truncated_body` or `unreadable_encoding`
 */
export function decodeBody(
  { status: httpStatus, headers, body }: Answer,
  maxBytes: number,
  origin: string,
): Buffer {
  const coding = String(headers["content-encoding"] ?? "identity").toLowerCase();
  if (body.length === 0 || coding === "identity") return body;
  try {
    const decode = decoders.get(coding);
    if (decode === undefined) throw new Error("unknown coding");
    return decode(body, { maxOutputLength: maxBytes });
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
