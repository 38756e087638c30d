import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { raw, reply } from "../helpers/scripted-server.js";
import { failure, ipResult, partialSuccess, success } from "../unit/api/answers.js";
import { ways } from "../helpers/connections.js";
import { queriesOf } from "./lookup.js";

const whole = success(ipResult());
const text = JSON.stringify(whole);
const html = "<!doctype html><title>Sign in</title>";

describe.each(ways)("%s", (_way, connect) => {
  const tryQuery = queriesOf(connect);

  test("an HTML page with status 200 is requested again once", async () => {
    const { finding } = await tryQuery(reply(200, html, { "content-type": "text/html" }));
    expect(finding).toMatchObject({
      status: "failed",
      error: {
        code: "response_schema",
        message: expect.stringContaining("the body is not JSON (content-type text/html)"),
      },
      again: { policy: "once" },
    });
  });

  test("429 with seconds throttles for that long", async () => {
    const { finding } = await tryQuery(reply(429, "", { "retry-after": "3" }));
    expect(finding).toMatchObject({
      error: { code: "http_429" },
      again: { policy: "throttled", afterMs: 3000 },
    });
  });

  test("429 with a date in the past throttles from now on", async () => {
    const { finding } = await tryQuery(
      reply(429, "", { "retry-after": "Sun, 06 Nov 1994 08:49:37 GMT" }),
    );
    expect(finding.again).toEqual({ policy: "throttled", afterMs: 0 });
  });

  test("keeps the data of a 503", async () => {
    const result = { ...ipResult(), asn: null };
    const { finding, attempts } = await tryQuery(reply(503, partialSuccess(result)));
    expect(finding).toMatchObject({
      status: "partial",
      answers: { query: { result } },
      missing: ["asn"],
    });
    expect(attempts).toMatchObject([{ httpStatus: 503, outcome: "503" }]);
  });

  test.each([401, 403])("%i stops the run", async (status) => {
    await expect(tryQuery(reply(status, failure("no")))).rejects.toMatchObject({
      name: "FatalError",
      message: expect.stringContaining(`${status} from the intelligence interface`),
    });
  });

  test.each([
    ["100 Continue", ""],
    ["103 Early Hints", "link: </a>\r\n"],
  ])("%s before an answer is ignored", async (status, header) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`;
    const { finding } = await tryQuery(
      raw(`HTTP/1.1 ${status}\r\n${header}\r\n${head}${text}`, false),
    );
    expect(finding.status).toBe("complete");
  });

  test.each(["000", "099"])("status %s is invalid HTTP, a transient fault", async (status) => {
    const { finding } = await tryQuery(
      raw(`HTTP/1.1 ${status} Nothing\r\ncontent-length: 0\r\n\r\n`, false),
    );
    expect(finding).toMatchObject({
      status: "failed",
      error: { code: "invalid_http", message: expect.stringMatching(/is not valid HTTP$/) },
      again: { policy: "transient" },
    });
  });

  test("429 that asks for 30 years throttles for an hour, with a warning", async () => {
    const { finding } = await tryQuery(reply(429, "", { "retry-after": "1000000000" }));
    expect(finding).toMatchObject({
      error: { message: expect.stringContaining("asks to wait for an hour or longer") },
      again: { policy: "throttled", afterMs: 3_600_000 },
    });
  });

  test("does not follow a redirect", async () => {
    const { finding, requests } = await tryQuery(
      reply(302, "", { location: "http://127.0.0.1:9/elsewhere" }),
    );
    expect(finding).toMatchObject({ status: "failed", error: { code: "http_302" } });
    expect(requests.length).toBe(1);
  });

  test.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
    ["deflate, gzip", gzipSync(deflateSync(text))],
  ])("decodes a body encoded as %s, although none was requested", async (coding, body) => {
    const { finding } = await tryQuery(reply(200, body, { "content-encoding": coding }));
    expect(finding.status).toBe("complete");
  });

  test.each([
    ["gzip", gzipSync(Buffer.alloc(64 * 1024 * 1024, " "))],
    ["br", brotliCompressSync(Buffer.alloc(16 * 1024 * 1024, " "))],
  ])("a small %s body that decompresses to a large one fails permanently", async (coding, body) => {
    const { finding } = await tryQuery(reply(200, body, { "content-encoding": coding }));
    expect(finding).toMatchObject({ status: "failed", error: { code: "body_too_large" } });
    expect(finding.again).toBeNull();
  });

  test.each([
    ["gzip", gzipSync(text).subarray(0, 100), "truncated_body"],
    ["gzip", Buffer.from(text), "unreadable_encoding"],
    ["zstd", Buffer.from(text), "unreadable_encoding"],
    ["gzip, gzip, gzip", Buffer.from(text), "unreadable_encoding"],
  ])("an invalid %s body is a transient fault", async (coding, body, code) => {
    const { finding } = await tryQuery(reply(200, body, { "content-encoding": coding }));
    expect(finding).toMatchObject({
      status: "failed",
      httpStatus: 200,
      error: { code },
      again: { policy: "transient" },
    });
  });

  test.each([
    ["a text of 7 MB", { ...ipResult(), intent: "x".repeat(7_000_000) }],
    ["an unknown member of 7 MB", { ...ipResult(), note: "x".repeat(7_000_000) }],
  ])("%s is data", async (_, result) => {
    const { finding } = await tryQuery(reply(200, success(result)));
    expect(finding.status).toBe("complete");
  });

  test("a text of 10 MB is too large", async () => {
    const { finding } = await tryQuery(
      reply(200, success({ ...ipResult(), item: "x".repeat(10_000_000) })),
    );
    expect(finding.error?.code).toBe("body_too_large");
  });

  function withMember(json: string): string {
    return text.replace('"item":', `${json},"item":`);
  }

  test.each([
    ["deep nesting in an unknown member", withMember(`"x":${"[".repeat(1e5)}${"]".repeat(1e5)}`)],
    [
      "deep nesting in a known member",
      withMember('"x":1').replace('["credentials:brute-force"]', "[".repeat(1e5) + "]".repeat(1e5)),
    ],
    ["nothing but brackets", "[".repeat(1e6)],
    [
      "millions of wrong entries",
      withMember('"x":1').replace('["credentials:brute-force"]', `[${"0,".repeat(4e6)}0]`),
    ],
    ["wrong types throughout", text.replaceAll(/"[^"]+"(?=[,}\]])/g, "7")],
    ["a statusCode that contradicts the HTTP status", text.replace("200", "503")],
  ])("%s fails with response_schema", async (_, body) => {
    const { finding } = await tryQuery(reply(200, body));
    expect(finding).toMatchObject({ status: "failed", error: { code: "response_schema" } });
  });

  test.each([
    ["__proto__", '"__proto__":{"polluted":true,"tags":[]}'],
    ["an escaped __proto__", '"\\u005f_proto__":{"polluted":true,"tags":[]}'],
    ["constructor", '"constructor":{"prototype":{"polluted":true}}'],
  ])("a member named %s pollutes nothing, not even a copy", async (_, member) => {
    const { finding } = await tryQuery(reply(200, withMember(member)));
    const copy = Object.assign({}, finding.answers.query?.result);
    expect(finding.status).toBe("complete");
    expect([({} as Record<string, unknown>)["polluted"], copy["polluted"]]).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("the last of duplicate members counts", async () => {
    const { finding } = await tryQuery(reply(200, withMember('"intent":"none"')));
    expect(finding.answers.query?.result["intent"]).toBe("malicious");
  });

  test.each(["text/html", "application/octet-stream", "", "\u00ff"])(
    "ignores the content type %j of a valid body",
    async (type) => {
      const { finding } = await tryQuery(reply(200, whole, { "content-type": type }));
      expect(finding.status).toBe("complete");
    },
  );
});
