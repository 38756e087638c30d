import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/finding.js";
import { results } from "../../../src/api/schema/query-result.js";
import { tagIpsSchema } from "../../../src/api/schema/tag.js";
import { missingMembers, schemaFault } from "../../../src/api/schema-fault.js";
import { domainResult, ipResult, plainResult, quickCheckResult, without } from "./answers.js";

const large = 8 * 1024 * 1024;

function tagIps(entries: unknown[]) {
  const snapshot = "abcdefghijklmnopqrstuvwx";
  return { tag: "a:b", entries, lastUpdate: "2023-01-02T03:04:05Z", total: 1, snapshot };
}

test.each([100, large])("finds no fault in a valid value of %i bytes", (bytes) => {
  expect(schemaFault(results.IP, ipResult(), bytes, "result")).toBeNull();
});

test("locates a fault far down a long list", () => {
  const entries: unknown[] = Array.from({ length: 200_000 }, () => "192.0.2.7");
  entries[123_456] = 7;
  expect(schemaFault(tagIpsSchema, tagIps(entries), large, "result")).toBe(
    "result.entries[123456] must be of type string",
  );
});

test("stops at the first slice of a long invalid list", () => {
  const value = tagIps(Array.from({ length: 4_000_000 }, () => 0));
  expect(schemaFault(tagIpsSchema, value, large, "result")).toContain(
    "result.entries[0] must be of type string",
  );
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
  expect(missingMembers("query", result as JsonObject)).toEqual(missing);
});

test("knows the members of a quick check", () => {
  const result = { ...quickCheckResult(), activity: null };
  expect(missingMembers("quick-check", result)).toEqual(["activity"]);
});
