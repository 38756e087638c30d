import { describe, expect, it } from "vitest";
import { verdictOf } from "../../../../src/sinks/shapes/verdict.js";
import { aFinding } from "../../../helpers/enriched-rows.js";

describe("a verdict", () => {
  it.each([
    [{ intent: "malicious" }, null, "malicious"],
    [{ intent: "suspicious" }, null, "suspicious"],
    [{ intent: "none", serviceMailBlocklist: "ACTIVE" }, null, "listed"],
    [{ abusixMailBlocklist: "ACTIVE" }, null, "listed"],
    [{ intent: "suspicious", serviceMailBlocklist: "ACTIVE" }, null, "suspicious"],
    [{ intent: "none" }, { intent: "malicious" }, "malicious"],
    [null, { intent: "suspicious" }, "suspicious"],
    [{ intent: "suspicious" }, { intent: "malicious" }, "malicious"],
  ])("of %j and the quick check %j is %s", (query, quickCheck, expected) => {
    expect(verdictOf(aFinding({ query, quickCheck }))).toBe(expected);
  });

  it.each([
    null,
    {},
    { intent: null, serviceMailBlocklist: null },
    { intent: "none", serviceMailBlocklist: "NOT_LISTED" },
    { intent: "unknown" },
    { intent: "something new" },
    { serviceMailBlocklist: "ALLOWLIST" },
    { serviceMailBlocklist: "PASSIVE" },
    { serviceMailBlocklist: "INFORMATIONAL" },
    { intent: "none", bogon: true },
  ])("of %j is none", (query) => {
    expect(verdictOf(aFinding({ query, quickCheck: query }))).toBeNull();
  });
});
