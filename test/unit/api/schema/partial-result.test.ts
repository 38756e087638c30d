import { expect, test } from "vitest";
import { partialResultSchema } from "../../../../src/api/schema/query-result.js";
import { bogonResult, domainResult, ipResult, plainResult, without } from "../answers.js";

function follows(value: unknown): boolean {
  return partialResultSchema.safeParse(value).success;
}

function gaps(value: object, gap: null | undefined): object {
  const entries = Object.entries(value).map(([member, content]) =>
    member === "item" || member === "type" ? [member, content] : [member, gap],
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
}

test.each([ipResult(), domainResult(), plainResult("URL"), plainResult("EMAIL")])(
  "a full result is a partial result, too: $type",
  (result) => {
    expect(follows(result)).toBe(true);
  },
);

test.each([ipResult(), domainResult()])(
  "every member of type $type but item and type may be null",
  (result) => {
    expect(follows(gaps(result, null))).toBe(true);
  },
);

test.each([ipResult(), domainResult()])(
  "every member of type $type but item and type may be absent",
  (result) => {
    expect(follows(gaps(result, undefined))).toBe(true);
  },
);

test.each(["item", "type"])("type IP requires %s", (member) => {
  expect(follows(without(ipResult(), member))).toBe(false);
});

test("bogon true is none of a partial result", () => {
  expect(follows({ ...ipResult(), bogon: true })).toBe(false);
});

test("what is present in part has its full shape", () => {
  expect(follows(without(ipResult(), "asn.name"))).toBe(false);
});

test("IP_BOGON is not among the kinds", () => {
  expect(follows(bogonResult())).toBe(false);
});

test.each(["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"])("type %s is as in the full result", (type) => {
  expect(follows(without(plainResult(type), "serviceMailBlocklist"))).toBe(false);
});
