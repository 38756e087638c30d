import { describe, expect, test } from "vitest";
import { judge, failedAttempt } from "../../../src/client/api/judge.js";
import { TransportError } from "../../../src/client/api/http/transport-error.js";
import type { LookupEndpoint } from "../../../src/core/finding.js";
import { type Item, parseKindName } from "../../../src/core/item/item.js";
import {
  answer,
  judgeContext,
  bogonResult,
  domainResult,
  failure,
  ipResult,
  partialSuccess,
  plainResult,
  quickCheckResult,
  success,
  without,
} from "./answers.js";

function judged(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  endpoint: LookupEndpoint = "query",
  item = itemIn(body),
) {
  const asked = { endpoint, item };
  const judgement = judge(asked, answer(status, body, headers), judgeContext());
  return { ...judgement.finding, again: judgement.again, body: judgement.body };
}

/** Members that the findings of all answers share. */
const common = {
  missing: [],
  source: "live",
  attempts: 1,
  lookedUpAt: "2024-01-01T00:00:00.000Z",
  error: null,
};

/** A successful answer about an address, without one member or with others. */
const lacking = (path: string) => success(without(ipResult(), path));
const having = (members: object) => success({ ...ipResult(), ...members });

/** The item that an answer names. */
function itemIn(body: unknown): Item {
  const { result } = (body ?? {}) as { readonly result?: Partial<Record<string, unknown>> };
  return { kind: parseKindName(String(result?.["type"])) ?? "ip", value: String(result?.["item"]) };
}

describe("200", () => {
  test.each([
    ipResult(),
    bogonResult(),
    domainResult(),
    plainResult("URL"),
    plainResult("SHA1"),
    plainResult("CRYPTO_WALLET"),
    plainResult("EMAIL"),
    // Members and types that nobody documented, and a deployed service's name of a member.
    { ...ipResult(), confidence: { score: 7 } },
    { item: "+49", type: "PHONE", carrier: "Example" },
    { ...without(ipResult(), "serviceMailBlocklist"), abusixMailBlocklist: "ACTIVE" },
  ])("a success envelope around %j is complete, as received", (result) => {
    const { body, again, ...finding } = judged(200, success(result));
    expect(again).toBeNull();
    expect(JSON.parse(String(body))).toEqual(success(result));
    const answers = { query: { result } };
    expect(finding).toEqual({ ...common, status: "complete", answers, httpStatus: 200 });
  });

  test.each([
    ["a missing member", lacking("tags"), "result.tags is missing"],
    [
      "a missing member deep down",
      lacking("observedActivity.spamtrapInteractions.observations.0.type"),
      "result.observedActivity.spamtrapInteractions.observations[0].type is missing",
    ],
    ["a missing type", lacking("type"), "result.type is missing"],
    ["a member of another type", having({ asn: "AS64496" }), "result.asn must be of type object"],
    ["one of unknown type", success({ item: "a", type: "PHONE", tags: "x" }), "be of type array"],
    ["a literal of another value", having({ bogon: true }), "result.bogon must be false"],
    ["more than one fault", having({ tags: null, asn: null }), "be of type array (and 1 more)"],
    [
      "the deployed name of a member with another type",
      success({ ...without(ipResult(), "serviceMailBlocklist"), abusixMailBlocklist: 7 }),
      "result.serviceMailBlocklist must be of type string",
    ],
    ["an absent result", { status: "success", statusCode: 200 }, "envelope.result is missing"],
    ["a list as result", success([ipResult()]), "result must be an object"],
    ["an absent statusCode", { status: "success", result: ipResult() }, "statusCode is missing"],
    [
      "a statusCode that contradicts the HTTP status",
      { ...success(ipResult()), statusCode: 503 },
      "statusCode is 503 but the HTTP status is 200",
    ],
    ["a failure envelope", failure("no"), 'status must be "success"'],
    ["a partial envelope", partialSuccess(ipResult()), 'status must be "success"'],
    ["a list", [], "the body is not a JSON object"],
    ["null", "null", "the body is not a JSON object"],
    ["nothing", "", "the body is empty"],
    ["broken JSON", '{"status":', "the body is not JSON"],
    ["NaN", '{"status":"success","statusCode":NaN}', "the body is not JSON"],
  ])("%s is response_schema and retried once", (_, body, words) => {
    expect(judged(200, body)).toMatchObject({
      status: "failed",
      httpStatus: 200,
      answers: {},
      error: { code: "response_schema", message: expect.stringContaining(words) },
      again: { policy: "once", afterMs: null },
    });
  });

  test("names the content type of a page in place of JSON", () => {
    const finding = judged(200, "<html></html>", { "content-type": "text/html; charset=utf-8" });
    expect(finding.error?.message).toContain("the body is not JSON (content-type text/html)");
  });
});

describe("400", () => {
  test("the failure envelope makes the item invalid, without a retry", () => {
    expect(judged(400, failure("Invalid IP address"))).toEqual({
      ...common,
      again: null,
      status: "invalid",
      answers: {},
      httpStatus: 400,
      error: { code: "invalid_item", message: "Invalid IP address" },
    });
    expect(judged(400, failure("no"), {}, "quick-check").status).toBe("invalid");
  });

  test.each<[unknown, string]>([
    ["Bad Request", "http_400"],
    [without(failure("no"), "status"), "http_400"],
    [{ ...failure("no"), statusCode: 503 }, "response_schema"],
    ...["statusCode", "errors", "errors.$"].map((path): [unknown, string] => [
      without(failure("no"), path),
      "response_schema",
    ]),
  ])("anything else says nothing about the item, and is not retried: %j is %s", (body, code) => {
    expect(judged(400, body)).toMatchObject({ status: "failed", error: { code }, again: null });
  });
});

describe("503", () => {
  test("the partial-success envelope is data", () => {
    const result = { ...without(ipResult(), "lastSeen"), asn: null };
    expect(judged(503, partialSuccess(result))).toEqual({
      status: "partial",
      ...common,
      answers: { query: { result } },
      missing: ["lastSeen", "asn"],
      httpStatus: 503,
      again: { policy: "partial", afterMs: null },
    });
  });

  test("is not throttling with a Retry-After, nor without errors in its envelope", () => {
    const body = without(partialSuccess(ipResult()), "errors");
    expect(judged(503, body, { "retry-after": "7" })).toMatchObject({
      status: "partial",
      again: { policy: "partial", afterMs: null },
    });
  });

  test.each([
    ["a result of a wrong shape", partialSuccess({ ...ipResult(), tags: "spam" })],
    ["the kind that has no partial form", partialSuccess(bogonResult())],
    ["no result", without(partialSuccess(null), "result")],
    ["a contradictory statusCode", { ...partialSuccess(ipResult()), statusCode: 200 }],
  ])("the envelope around %s is response_schema and retried", (_, body) => {
    expect(judged(503, body)).toMatchObject({
      status: "failed",
      error: { code: "response_schema" },
      again: { policy: "transient", afterMs: null },
    });
  });

  test.each([
    ["nothing", ""],
    ["a page", "<html>Service Unavailable</html>"],
    ["another envelope", { ...failure("busy"), statusCode: 503 }],
    ["other JSON", { message: "busy" }],
  ])("%s in place of the envelope is throttling", (_, body) => {
    expect(judged(503, body, { "retry-after": "7" })).toMatchObject({
      status: "failed",
      httpStatus: 503,
      error: { code: "http_503" },
      again: { policy: "throttled", afterMs: 7000 },
    });
  });
});

describe("other statuses", () => {
  test.each([
    [401, "unauthorized"],
    [403, "forbidden"],
  ])("%i stops the run", (status, code) => {
    expect(() => judged(status, "{}")).toThrow(expect.objectContaining({ code }));
  });

  test("without an API key, 403 says where to set one", () => {
    const message =
      "403 from the intelligence interface: it requires an API key, and none is configured";
    const hint = expect.stringContaining("REPUTE_API_KEY") as string;
    expect(() => judged(403, "")).toThrow(expect.objectContaining({ message, hint }));
  });

  test.each([
    ...[404, 405, 410, 418, 301, 302, 303, 307, 308].map((status) => [status, null] as const),
    ...[408, 425, 500, 502, 504, 599].map((status) => [status, "transient"] as const),
    [429, "throttled"] as const,
  ])("%i has the policy %s, and is no redirect that is followed", (status, policy) => {
    const { again, ...finding } = judged(status, "", { location: "https://example.com/" });
    expect(again).toEqual(policy && { policy, afterMs: null });
    expect(finding).toMatchObject({ status: "failed", error: { code: `http_${status}` } });
    const isRedirect = status >= 300 && status < 400;
    expect(finding.error?.message.includes("redirects are not followed")).toBe(isRedirect);
  });

  test("the message includes the service's own words", () => {
    expect(judged(500, failure("database is down")).error?.message).toBe(
      "the intelligence interface answered 500 Internal Server Error: database is down",
    );
  });
});

test.each([
  ["connection_reset", { policy: "transient", afterMs: null }],
  ["body_too_large", null],
  ["certificate_rejected", null],
] as const)("the lookup that ends in %s is made again: %j", (code, again) => {
  const error = { code, message: "https://example.com closed" };
  const fault = new TransportError(code, error.message);
  expect(failedAttempt(fault, judgeContext().clock)).toMatchObject({
    finding: { status: "failed", httpStatus: null, attempts: 1, error },
    outcome: code,
    again,
  });
});

test.each([
  ["query", 200, success(ipResult())],
  ["query", 503, partialSuccess(ipResult())],
  ["quick-check", 200, success(quickCheckResult())],
] as const)("a %s (%i) about another item fails and is asked for once more", (...answered) => {
  const [endpoint, status, body] = answered;
  const asked = { kind: "ip", value: "192.0.2.8" } as const;
  const message =
    'the answer of the intelligence interface is not about this item: it names "192.0.2.7"';
  expect(judged(status, body, {}, endpoint, asked)).toMatchObject({
    status: "failed",
    answers: {},
    httpStatus: status,
    error: { code: "response_mismatch", message },
    again: { policy: "once" },
  });
});

test("keeps the text of a result on request", () => {
  const result =
    '{"item":"192.0.2.1", "type":"URL","serviceMailBlocklist":null,"n":[1.0,-0,1e400]}';
  const body = `{"status":"success","statusCode":200,\n"result":${result}}`;
  const asReceived = { ...judgeContext(), asReceived: true };
  const item = { kind: "url", value: "http://example.com/" } as const;
  const textFrom = (endpoint: LookupEndpoint) =>
    judge({ endpoint, item }, answer(200, body), asReceived).finding.answers[endpoint]?.text;
  expect([textFrom("query"), textFrom("quick-check")]).toEqual([result, result]);
});

const withoutBlocklist = without(plainResult("URL"), "serviceMailBlocklist");

test.each<[object, string[]]>([
  [ipResult(), []],
  [domainResult(), []],
  [plainResult("URL"), []],
  [{ ...ipResult(), bogon: false, tags: [] }, []],
  [
    { ...without(ipResult(), "tags"), observedActivity: null, bogon: null },
    ["bogon", "tags", "observedActivity"],
  ],
  [{ item: "a", type: "IP" }, Object.keys(without(without(ipResult(), "item"), "type"))],
  [{ item: "a", type: "DOMAIN" }, Object.keys(without(without(domainResult(), "item"), "type"))],
  [{ ...withoutBlocklist, abusixMailBlocklist: "X" }, []],
  [{ ...withoutBlocklist, abusixMailBlocklist: null }, ["serviceMailBlocklist"]],
])("the missing members of %j, in the order of the interface: %j", (result, missing) => {
  expect(judged(503, partialSuccess(result)).missing).toEqual(missing);
});

test("knows the members of a quick check", () => {
  const result = { ...quickCheckResult(), activity: null };
  expect(judged(503, partialSuccess(result), {}, "quick-check").missing).toEqual(["activity"]);
});
