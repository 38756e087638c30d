import { describe, expect, it } from "vitest";
import { accusationIn, verdictOf, verdicts } from "../../../src/core/finding.js";
import { aFinding } from "../../helpers/enriched-rows.js";

describe("a verdict", () => {
  it.each([
    [{ intent: "malicious" }, null, "malicious"],
    [{ intent: "suspicious" }, null, "suspicious"],
    [{ intent: "none", serviceMailBlocklist: "ACTIVE" }, null, "listed"],
    [{ abusixMailBlocklist: "ACTIVE" }, null, "listed"],
    [null, { serviceMailBlocklist: "ACTIVE", intent: "unknown" }, "listed"],
    [{ serviceMailBlocklist: "NOT_LISTED" }, { abusixMailBlocklist: "ACTIVE" }, "listed"],
    [{ intent: "suspicious", serviceMailBlocklist: "ACTIVE" }, null, "suspicious"],
    [{ intent: "none" }, { intent: "malicious" }, "malicious"],
    [null, { intent: "suspicious" }, "suspicious"],
    [{ intent: "suspicious" }, { intent: "malicious" }, "malicious"],
    [{ serviceMailBlocklist: "ACTIVE" }, { intent: "malicious" }, "malicious"],
  ])("of the query %j and the quick check %j is %s", (query, quickCheck, expected) => {
    expect(verdictOf(aFinding({ query, quickCheck }))).toBe(expected);
  });

  it.each([
    {},
    { intent: null, serviceMailBlocklist: null },
    { intent: "none", serviceMailBlocklist: "NOT_LISTED" },
    { intent: "unknown" },
    { intent: "something new" },
    { intent: ["malicious"] },
    { serviceMailBlocklist: "ALLOWLIST" },
    { serviceMailBlocklist: "PASSIVE" },
    { serviceMailBlocklist: "INFORMATIONAL" },
    { type: "IP_BOGON", bogon: true },
  ])("of an answer of %j is none", (answer) => {
    expect(verdictOf(aFinding({ query: answer, quickCheck: answer }))).toBe("none");
    expect(verdictOf(aFinding({ query: answer }))).toBe("none");
    expect(verdictOf(aFinding({ quickCheck: answer }))).toBe("none");
  });

  it("comes from the lookup that answered if the other failed", () => {
    const quickCheck = { intent: "malicious" };
    expect(verdictOf(aFinding({ status: "failed", quickCheck }))).toBe("malicious");
    expect(verdictOf(aFinding({ status: "invalid", query: {} }))).toBe("none");
  });

  it("is null without an answer", () => {
    expect(verdictOf(aFinding({ status: "failed" }))).toBeNull();
  });
});

it("accuses nobody when nothing is known", () => {
  const accusations = ["malicious", "suspicious", "listed", null];
  expect(verdicts.map(accusationIn)).toEqual(accusations);
  expect(accusationIn(null)).toBeNull();
});
