import { expect, test } from "vitest";
import { transportErrorOf } from "../../../../src/client/api/http/transport-error.js";

const origin = "https://intel.example.com";

function faultOf(code: string | undefined, proxy: string | null = null, httpStatus?: number) {
  const error = Object.assign(new Error("the words underneath"), { code });
  return transportErrorOf(error, { origin, proxy }, httpStatus ?? null);
}

test.each([
  ["ECONNREFUSED", "connect_refused"],
  ["ENOTFOUND", "dns_failure"],
  ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout"],
  ["ETIMEDOUT", "connect_timeout"],
  ["ENETUNREACH", "connect_failed"],
  ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
  ["ECONNRESET", "connection_reset"],
  ["UND_ERR_SOCKET", "connection_reset"],
  ["CERT_HAS_EXPIRED", "certificate_rejected"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate_rejected"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_failure"],
  ["ERR_ASSERTION", "invalid_http"],
  ["UND_ERR_HEADERS_OVERFLOW", "invalid_http"],
  ["UND_ERR_PRX_TLS", "proxy_failure"],
  [undefined, "connect_failed"],
])("%s without an answer is %s", (code, fault) => {
  expect(faultOf(code).code).toBe(fault);
});

test.each([
  ["ECONNRESET", "truncated_body"],
  ["UND_ERR_SOCKET", "truncated_body"],
  ["UND_ERR_BODY_TIMEOUT", "timeout"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "truncated_body"],
  ["HPE_INVALID_CHUNK_SIZE", "invalid_http"],
])("%s within an answer is %s", (code, fault) => {
  expect(faultOf(code, null, 200)).toMatchObject({ code: fault, httpStatus: 200 });
});

test.each([
  [
    "CERT_HAS_EXPIRED",
    `the certificate of ${origin} is not trusted, has expired or is for another host (CERT_HAS_EXPIRED)`,
  ],
  // Of the HTTP parser.
  ["ERR_ASSERTION", `the answer of ${origin} is not valid HTTP`],
])("the message of %s is %s", (code, message) => {
  expect(faultOf(code).message).toBe(message);
});

test("if memory for the HTTP parser runs out, names the limit and doesn't retry", () => {
  const words = "WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory";
  const cause = new RangeError(words);
  const error = transportErrorOf(cause, { origin, proxy: null }, null);
  const message = expect.stringContaining("(ulimit -v)") as string;
  expect(error).toMatchObject({ code: "out_of_memory", message, again: null });
});

test.each([
  ["ECONNREFUSED", "the proxy http://p.example (from HTTP_PROXY) refused the connection"],
  ["ENOTFOUND", "the host name of the proxy http://p.example (from HTTP_PROXY) could not be"],
  ["UND_ERR_CONNECT_TIMEOUT", "connecting to the proxy http://p.example (from HTTP_PROXY) timed"],
])("%s is attributed to the proxy, if there is one", (code, words) => {
  const message = expect.stringContaining(words) as string;
  const error = faultOf(code, "http://p.example (from HTTP_PROXY)");
  expect(error).toMatchObject({ code: "proxy_failure", message });
});
