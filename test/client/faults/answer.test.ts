import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { raw, reply } from "../../helpers/scripted-server.js";
import { ipResult, success } from "../api/answers.js";
import { ways } from "../../helpers/connections.js";
import { queriesOf } from "./lookup.js";

const whole = success(ipResult());
const text = JSON.stringify(whole);

const [[, connect]] = ways;
const tryQuery = queriesOf(connect);

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

test("does not follow a redirect", async () => {
  const { finding, requests } = await tryQuery(
    reply(302, "", { location: "http://127.0.0.1:9/elsewhere" }),
  );
  expect(finding).toMatchObject({ status: "failed", error: { code: "http_302" } });
  expect(requests.length).toBe(1);
});

test.each([
  ["gzip", gzipSync(text)],
  ["deflate", deflateSync(text)],
  ["deflate", gzipSync(text)],
  ["deflate", deflateRawSync(text)],
  ["x-gzip", gzipSync(text)],
  ["br", brotliCompressSync(text)],
  ["identity", Buffer.from(text)],
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
])("an invalid %s body is a transient fault", async (coding, body, code) => {
  const { finding } = await tryQuery(reply(200, body, { "content-encoding": coding }));
  expect(finding).toMatchObject({
    status: "failed",
    httpStatus: 200,
    error: { code },
    again: { policy: "transient" },
  });
});

test.each(["intent", "an unknown member"])("%s of 7 MB is data", async (member) => {
  const result = { ...ipResult(), [member]: "x".repeat(7_000_000) };
  const { finding } = await tryQuery(reply(200, success(result)));
  expect(finding.status).toBe("complete");
});

const withMember = (json: string) => text.replace('"item":', `${json},"item":`);
const withTags = (json: string) => text.replace(JSON.stringify(ipResult().tags), json);

test.each([
  ["deep nesting in an unknown member", withMember(`"x":${"[".repeat(1e5)}${"]".repeat(1e5)}`)],
  ["deep nesting in a known member", withTags("[".repeat(1e5) + "]".repeat(1e5))],
  ["nothing but brackets", "[".repeat(1e6)],
  ["millions of wrong entries", withTags(`[${"0,".repeat(4e6)}0]`)],
  ["wrong types throughout", text.replaceAll(/"[^"]+"(?=[,}\]])/g, "7")],
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
  for (const object of [{}, copy]) expect(object).not.toHaveProperty("polluted");
});

test("the last of duplicate members counts", async () => {
  const { finding } = await tryQuery(reply(200, withMember('"intent":"none"')));
  expect(finding.answers.query?.result["intent"]).toBe("malicious");
});
