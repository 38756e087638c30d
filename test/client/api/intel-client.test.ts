import { describe, expect, test } from "vitest";
import { IntelClient, type IntelClientOptions } from "../../../src/client/api/intel-client.js";
import {
  NotFoundError,
  RejectedError,
  ThrottledError,
} from "../../../src/client/api/status-fault.js";
import type { AttemptReport } from "../../../src/client/api/types.js";
import type { ItemKind } from "../../../src/core/item/item.js";
import { reply, type ScriptedServer, type Step } from "../../helpers/scripted-server.js";
import {
  collected,
  failure,
  ipResult,
  partialSuccess,
  quickCheckResult,
  serving,
  success,
} from "./answers.js";

let server: ScriptedServer;
const { signal } = new AbortController();
const address = { kind: "ip", value: "192.0.2.7" } as const;

async function client(
  script: readonly Step[],
  more: Partial<IntelClientOptions> = {},
  path = "/beta",
): Promise<IntelClient> {
  const { options, ...served } = await serving(script);
  ({ server } = served);
  return new IntelClient({ ...options, baseUrl: server.url + path, ...more });
}

function onePage(entries: string[], more: object = {}) {
  const snapshot = "abcdefghijklmnopqrstuvwx";
  return { tag: "a:b", entries, lastUpdate: "2023-01-02T03:04:05Z", total: 3, snapshot, ...more };
}

function page(entries: string[], more: object = {}): Step {
  return reply(200, success(onePage(entries, more)));
}

describe("lookups", () => {
  test("a query requests the item below the base address", async () => {
    const intel = await client([reply(200, success(ipResult()))]);
    const finding = await intel.query(address, { signal });
    expect(finding).toMatchObject({
      status: "complete",
      answers: { query: { result: ipResult() } },
      attempts: 1,
    });
    expect(server.requests).toMatchObject([{ method: "GET", path: "/beta/query/192.0.2.7" }]);
  });

  test.each([
    ["url", "http://example.com/a?b", "/beta/query/http%3A%2F%2Fexample.com%2Fa%3Fb"],
    ["ip", "2001:db8::1", "/beta/query/2001%3Adb8%3A%3A1"],
    ["email", "a+b/c@example.com", "/beta/query/a%2Bb%2Fc%40example.com"],
    ["email", "\u{D800}@example.com", "/beta/query/%EF%BF%BD%40example.com"],
    ["url", "http://example.com/%2F", "/beta/query/http%3A%2F%2Fexample.com%2F%252F"],
    ["domain", "..", "/beta/query/%2E%2E"],
  ] as const)("the %s %j travels as one segment", async (kind: ItemKind, value, path) => {
    const intel = await client([reply(400, failure("no"))]);
    await intel.query({ kind, value }, { signal });
    expect(server.requests[0]?.path).toBe(path);
  });

  test.each([undefined, "k-1"])("sends the API key %s as x-api-key, if any", async (apiKey) => {
    const intel = await client([reply(200, success(ipResult()))], { apiKey });
    await intel.query(address, { signal });
    const { headers = {} } = server.requests[0] ?? {};
    expect(headers["x-api-key"]).toBe(apiKey);
    const own = ["accept", "accept-encoding", "connection", "host", "user-agent"];
    const key = apiKey === undefined ? [] : ["x-api-key"];
    expect(Object.keys(headers).sort()).toEqual([...own, ...key]);
  });

  test("reports each request once", async () => {
    const attempts: AttemptReport[] = [];
    const intel = await client(
      [reply(503, partialSuccess(ipResult()), { "x-a": "b" }), reply(429)],
      { onAttempt: (attempt) => attempts.push(attempt) },
    );
    await intel.query(address, { signal });
    await intel.quickCheck(address, { signal });
    expect(attempts).toMatchObject([
      { endpoint: "query", httpStatus: 503, outcome: "503", ms: 0, headers: { "x-a": "b" } },
      { endpoint: "quick-check", httpStatus: 429, outcome: "429" },
    ]);
  });

  test("a quick check requests its own endpoint, below a base address that ends in a slash", async () => {
    const intel = await client([reply(200, success(quickCheckResult()))], {}, "/gateway/beta/");
    const finding = await intel.quickCheck(address, { signal });
    expect(finding.answers["quick-check"]?.result).toEqual(quickCheckResult());
    expect(server.requests[0]?.path).toBe("/gateway/beta/quick-check/192.0.2.7");
  });
});

describe("tags", () => {
  const tag = { name: "a:b", intent: "malicious", extra: 1 };
  const snapshot = "abcdefghijklmnopqrstuv+/";

  test.each<[string, unknown, (intel: IntelClient) => Promise<unknown>]>([
    ["/tags", [tag], (intel) => intel.tags()],
    ["/tags?includeDescriptions=true", [tag], (intel) => intel.tags({ includeDescriptions: true })],
    ["/tags/a%3Ab", tag, (intel) => intel.tag("a:b")],
    ["/tags/%2E%2E", { ...tag, name: ".." }, (intel) => intel.tag("..")],
    [
      "/tags/a%3Ab/ips?offset=5&limit=7&snapshot=abcdefghijklmnopqrstuv%2B%2F",
      onePage(["192.0.2.1"]),
      (intel) => intel.tagIps("a:b", { offset: 5, limit: 7, snapshot }),
    ],
  ])("%s is read", async (path, result, read) => {
    const intel = await client([reply(200, success(result))]);
    expect(await read(intel)).toEqual(result);
    expect(server.requests[0]?.path).toBe(`/beta${path}`);
  });

  test.each([
    [{ offset: -1 }, "offset must be at least 0"],
    [{ offset: 0.5 }, "offset must be a whole number"],
    [{ limit: 0 }, "limit must be at least 1"],
    [{ limit: 10_001 }, "limit must be at most 10000"],
    [{ snapshot: "short" }, "snapshot must have exactly 24 characters"],
  ])("rejects the page %j before sending it", async (options, words) => {
    const intel = await client([page([])]);
    await expect(intel.tagIps("a:b", options)).rejects.toThrow(words);
    expect(server.requests).toEqual([]);
  });

  test.each([
    (intel: IntelClient) => intel.tag("c:d"),
    (intel: IntelClient) => intel.tagIps("c:d"),
    (intel: IntelClient) => collected(intel.iterateTagIps("c:d")),
  ])("refuses the answer of another tag: %s", async (read) => {
    const result = { ...tag, ...onePage(["192.0.2.1"]) };
    const intel = await client([reply(200, success(result))]);
    await expect(read(intel)).rejects.toMatchObject({
      code: "other_tag",
      message: 'the service answered for tag "a:b" when asked for "c:d"',
    });
  });
});

describe("failed calls", () => {
  const rejected = { code: "rejected", httpStatus: 400, again: null };
  const hint = expect.stringContaining("repute tags list") as string;
  const message = expect.stringMatching(
    /^(IP list of )?tag a:b: the intelligence interface refuses: no such tag$/,
  ) as string;

  test.each([
    [400, failure("no such tag"), RejectedError, { ...rejected, message, hint }],
    [400, "nope", RejectedError, { httpStatus: 400 }],
    [404, "nope", NotFoundError, { httpStatus: 404 }],
    [429, "", ThrottledError, { again: { policy: "throttled", afterMs: 2000 } }],
  ])("%i %j has its error class, and says what to do", async (status, body, type, expected) => {
    const intel = await client([reply(status, body, { "retry-after": "2" })]);
    for (const call of [() => intel.tag("a:b"), () => intel.tagIps("a:b")]) {
      const error = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(expected);
    }
  });

  test("makes attempts through the given policy", async () => {
    let attempts = 0;
    const intel = await client([reply(500), reply(200, success({ name: "a:b" }))], {
      send: (attempt) => attempt().catch(() => ((attempts += 1), attempt())),
    });
    expect(await intel.tag("a:b")).toEqual({ name: "a:b" });
    expect(attempts).toBe(1);
  });
});

describe("configuration", () => {
  test.each([
    ["", "is not an http(s) address"],
    ["intel.example.com", "is not an http(s) address"],
    ["ftp://intel.example.com/", "is not an http(s) address"],
    ["http://127.0.0.1:9/beta?key=s3cret", "must not have a query"],
    ["http://127.0.0.1:9/beta#s3cret", "must not have a fragment"],
  ])("rejects %j as a base address: it %s", async (baseUrl, message) => {
    const fault = await client([], { baseUrl }).catch(String);
    expect(fault).toContain(message);
    expect(fault).not.toContain("s3cret");
  });

  test.each(["", "two words", "key\n", "schl\u00fcssel"])(
    "rejects the API key %j without showing it",
    async (apiKey) => {
      await expect(client([], { apiKey })).rejects.toThrow(
        "the API key in REPUTE_API_KEY is empty or contains spaces or other characters that a header cannot carry",
      );
    },
  );
});
