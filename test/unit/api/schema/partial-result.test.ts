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
  "accepts a full result as a partial one: $type",
  (result) => {
    expect(follows(result)).toBe(true);
  },
);

test.each([ipResult(), domainResult()])(
  "accepts null for every member of type $type except item and type",
  (result) => {
    expect(follows(gaps(result, null))).toBe(true);
  },
);

test.each([ipResult(), domainResult()])(
  "accepts type $type without any member except item and type",
  (result) => {
    expect(follows(gaps(result, undefined))).toBe(true);
  },
);

test.each(["item", "type"])("type IP requires %s", (member) => {
  expect(follows(without(ipResult(), member))).toBe(false);
});

test("rejects bogon true in a partial result", () => {
  expect(follows({ ...ipResult(), bogon: true })).toBe(false);
});

test("validates the members that are present in full", () => {
  expect(follows(without(ipResult(), "asn.name"))).toBe(false);
});

test("rejects IP_BOGON", () => {
  expect(follows(bogonResult())).toBe(false);
});

test.each(["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"])("type %s is as in the full result", (type) => {
  expect(follows(without(plainResult(type), "serviceMailBlocklist"))).toBe(false);
});
