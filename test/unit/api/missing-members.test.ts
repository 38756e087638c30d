import { expect, test } from "vitest";
import { missingMembers } from "../../../src/api/schema-fault.js";
import { domainResult, ipResult, plainResult, quickCheckResult, without } from "./answers.js";

test.each([ipResult(), domainResult(), plainResult("URL")])(
  "nothing is missing in a full result of type $type",
  (result) => {
    expect(missingMembers("query", result)).toEqual([]);
  },
);

test("lists null and absent members in the order of the interface", () => {
  const result = { ...without(ipResult(), "tags"), observedActivity: null, bogon: null };
  expect(missingMembers("query", result)).toEqual(["bogon", "tags", "observedActivity"]);
});

test("all members of an IP result except item and type can be missing", () => {
  expect(missingMembers("query", { item: "192.0.2.7", type: "IP" })).toEqual(
    Object.keys(ipResult()).filter((member) => member !== "item" && member !== "type"),
  );
});

test("all members of a domain result except item and type can be missing", () => {
  expect(missingMembers("query", { item: "example.com", type: "DOMAIN" })).toEqual(
    Object.keys(domainResult()).filter((member) => member !== "item" && member !== "type"),
  );
});

test("a false bogon and an empty list are not missing", () => {
  expect(missingMembers("query", { ...ipResult(), bogon: false, tags: [] })).toEqual([]);
});

test("accepts abusixMailBlocklist as serviceMailBlocklist", () => {
  const result = {
    ...without(plainResult("URL"), "serviceMailBlocklist"),
    abusixMailBlocklist: "X",
  };
  expect(missingMembers("query", result)).toEqual([]);
});

test("reports a null abusixMailBlocklist under the specified name", () => {
  const result = { item: "a", type: "URL", abusixMailBlocklist: null };
  expect(missingMembers("query", result)).toEqual(["serviceMailBlocklist"]);
});

test("knows the members of a quick check", () => {
  const result = { ...quickCheckResult(), activity: null };
  expect(missingMembers("quick-check", result)).toEqual(["activity"]);
});
