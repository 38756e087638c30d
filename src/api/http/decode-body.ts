import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import { TransportError } from "./transport-error.js";
import type { Answer } from "../types.js";

type Decoder = (body: Buffer, options: { readonly maxOutputLength: number }) => Buffer;

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["br", brotliDecompressSync],
  // Some servers send raw deflate under this name; a zlib header has 8 in its low four bits.
  [
    "deflate",
    (body, options) => ((body[0] ?? 0) % 16 === 8 ? inflateSync : inflateRawSync)(body, options),
  ],
]);

/**
 * Decodes a body's content coding (RFC 9110 section 8.4). None is requested, but some servers and
 * proxies apply one anyway.
 *
 * @param maxBytes maximum decoded size; decoding stops beyond it
 * @throws TransportError `body_too_large`, `truncated_body` or `unreadable_encoding`
 */
export function decodeBody(answer: Answer, maxBytes: number, origin: string): Buffer {
  const codings = String(answer.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (answer.body.length === 0) return answer.body;
  const faultOf = (error: unknown, coding: string): TransportError => {
    const options = { cause: error, httpStatus: answer.status };
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code === "ERR_BUFFER_TOO_LARGE") {
      const message = `the answer of ${origin} is larger than ${maxBytes} bytes when decoded`;
      return new TransportError("body_too_large", message, options);
    }
    if (code === "Z_BUF_ERROR") {
      const message = `${origin} ended its answer before it was complete`;
      return new TransportError("truncated_body", message, options);
    }
    const name = JSON.stringify(coding.slice(0, 40));
    const message = `the answer of ${origin} claims the encoding ${name} but cannot be decoded`;
    return new TransportError("unreadable_encoding", message, options);
  };
  // Codings are listed in the order applied. No real server sends more than two.
  if (codings.length > 2) throw faultOf(undefined, codings.join(", "));
  return codings.reduceRight((body, coding) => {
    const decode = decoders.get(coding);
    if (decode === undefined) throw faultOf(undefined, coding);
    try {
      return decode(body, { maxOutputLength: maxBytes });
    } catch (error) {
      throw faultOf(error, coding);
    }
  }, answer.body);
}
