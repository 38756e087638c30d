import { expect, test } from "vitest";
import { missingMembers } from "../../../src/api/schema-fault.js";
import { domainResult, ipResult, plainResult, quickCheckResult, without } from "./answers.js";

test.each([ipResult(), domainResult(), plainResult("URL")])(
  "nothing is missing in a whole result of type $type",
  (result) => {
    expect(missingMembers("query", result)).toEqual([]);
  },
);

test("null and absent members are missing, in the order of the interface", () => {
  const result = { ...without(ipResult(), "tags"), observedActivity: null, bogon: null };
  expect(missingMembers("query", result)).toEqual(["bogon", "tags", "observedActivity"]);
});

test("all members of an IP result can be missing but item and type", () => {
  expect(missingMembers("query", { item: "192.0.2.7", type: "IP" })).toEqual(
    Object.keys(ipResult()).filter((member) => member !== "item" && member !== "type"),
  );
});

test("all members of a domain result can be missing but item and type", () => {
  expect(missingMembers("query", { item: "example.com", type: "DOMAIN" })).toEqual(
    Object.keys(domainResult()).filter((member) => member !== "item" && member !== "type"),
  );
});

test("a false bogon and an empty list are there", () => {
  expect(missingMembers("query", { ...ipResult(), bogon: false, tags: [] })).toEqual([]);
});

test("abusixMailBlocklist stands in for serviceMailBlocklist", () => {
  const result = {
    ...without(plainResult("URL"), "serviceMailBlocklist"),
    abusixMailBlocklist: "X",
  };
  expect(missingMembers("query", result)).toEqual([]);
});

test("a null abusixMailBlocklist is named as the interface does", () => {
  const result = { item: "a", type: "URL", abusixMailBlocklist: null };
  expect(missingMembers("query", result)).toEqual(["serviceMailBlocklist"]);
});

test("a quick check has members of its own", () => {
  const result = { ...quickCheckResult(), activity: null };
  expect(missingMembers("quick-check", result)).toEqual(["activity"]);
});
