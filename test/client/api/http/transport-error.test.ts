import { expect, test } from "vitest";
import { transportErrorOf } from "../../../../src/client/api/http/transport-error.js";

const origin = "https://intel.example.com";

function faultOf(code: string | undefined, httpStatus: number | null = null, more: object = {}) {
  const error = Object.assign(new Error("the words underneath"), { code }, more);
  return transportErrorOf(error, { origin, proxy: null }, httpStatus);
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
  expect(faultOf(code, 200)).toMatchObject({ code: fault, httpStatus: 200 });
});

test("names the fault of a certificate", () => {
  expect(faultOf("CERT_HAS_EXPIRED").message).toBe(
    `the certificate of ${origin} is not trusted, has expired or is for another host (CERT_HAS_EXPIRED)`,
  );
});

test("an assertion of the HTTP parser means that the answer is not HTTP", () => {
  const error = faultOf("ERR_ASSERTION");
  expect(error.code).toBe("invalid_http");
  expect(error.message).toBe("the answer of https://intel.example.com is not valid HTTP");
});

test("if memory for the HTTP parser runs out, names the limit and doesn't retry", () => {
  const cause = new RangeError(
    "WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory",
  );
  const error = transportErrorOf(cause, { origin, proxy: null }, null);
  expect(error.code).toBe("out_of_memory");
  expect(error.message).toContain("(ulimit -v)");
  expect(error.again).toBeNull();
});

test.each([
  ["ECONNREFUSED", "the proxy http://p.example (from HTTP_PROXY) refused the connection"],
  ["ENOTFOUND", "the host name of the proxy http://p.example (from HTTP_PROXY) could not be"],
  [
    "UND_ERR_CONNECT_TIMEOUT",
    "connecting to the proxy http://p.example (from HTTP_PROXY) timed out",
  ],
])("%s is attributed to the proxy, if there is one", (code, message) => {
  const cause = Object.assign(new Error(), { code });
  const proxy = "http://p.example (from HTTP_PROXY)";
  const error = transportErrorOf(cause, { origin, proxy }, null);
  expect(error.code).toBe("proxy_failure");
  expect(error.message).toContain(message);
});
