import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { TransportError } from "./transport-error.js";
import type { Answer } from "../types.js";

/**
 * Takes a content coding off a body (RFC 9110 section 8.4). None is asked for, but some servers
 * and proxies apply one all the same.
 *
 * @param maxBytes largest decoded body; a longer one is cut off while it is decoded
 * @throws TransportError `body_too_large`, `truncated_body` or `unreadable_encoding`
 */
export function decodeBody(answer: Answer, maxBytes: number, origin: string): Buffer {
  const header = answer.headers["content-encoding"];
  const codings = String(header ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (answer.body.length === 0) return answer.body;
  // The last coding named was applied last. More than two is no honest answer.
  if (codings.length > 2) throw unreadable(codings.join(", "), answer, origin);
  return codings
    .toReversed()
    .reduce((body, coding) => decode(body, coding, maxBytes, answer, origin), answer.body);
}

function decode(
  body: Buffer,
  coding: string,
  maxBytes: number,
  answer: Answer,
  origin: string,
): Buffer {
  const options = { maxOutputLength: maxBytes };
  try {
    switch (coding) {
      case "gzip":
      case "x-gzip":
        return gunzipSync(body, options);
      case "deflate":
        // Some servers send raw deflate under this name; a zlib header has 8 in its low four bits.
        return (body[0] ?? 0) % 16 === 8
          ? inflateSync(body, options)
          : inflateRawSync(body, options);
      case "br":
        return brotliDecompressSync(body, options);
      default:
        throw unreadable(coding, answer, origin);
    }
  } catch (error) {
    if (error instanceof TransportError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : null;
    const httpStatus = answer.status;
    if (code === "ERR_BUFFER_TOO_LARGE") {
      const message = `the answer of ${origin} is larger than ${maxBytes} bytes when decoded`;
      throw new TransportError("body_too_large", message, { cause: error, httpStatus });
    }
    if (code === "Z_BUF_ERROR") {
      const message = `${origin} ended its answer before it was complete`;
      throw new TransportError("truncated_body", message, { cause: error, httpStatus });
    }
    throw unreadable(coding, answer, origin, error);
  }
}

function unreadable(
  coding: string,
  answer: Answer,
  origin: string,
  cause?: unknown,
): TransportError {
  const name = JSON.stringify(coding.slice(0, 40));
  const message = `the answer of ${origin} is encoded as ${name} in a way that cannot be read`;
  return new TransportError("unreadable_encoding", message, { cause, httpStatus: answer.status });
}
