import { expect, test } from "vitest";
import { type Finding, unasked } from "../../../src/core/finding.js";
import { isNoWorse } from "../../../src/jobs/retry/retry-output.js";

const none = { query: { result: { intent: "none" } } };
const bad = { "quick-check": { result: { intent: "malicious" } } };
const unclear = { ...none, query: { result: { intent: null } }, "quick-check": { result: {} } };
const both = { ...none, ...bad };

function finding(
  status: Finding["status"],
  answers: Finding["answers"] = {},
  missing: readonly string[] = [],
): Finding {
  return { ...unasked(status, null), answers, missing };
}

test.each([
  ["the same verdict", finding("failed", none), finding("complete", none), true],
  ["both lookups", finding("failed", bad), finding("complete", both), true],
  ["only the other lookup, failed", finding("failed", none), finding("failed", bad), false],
  ["no answer", finding("failed", none), finding("failed"), false],
  ["as little as before", finding("failed"), finding("failed"), true],
  ["that it is refused", finding("failed", bad), finding("invalid"), true],
  ["less of the query", finding("failed", none), finding("partial", both, ["asn"]), false],
  ["as much in part", finding("partial", both, ["asn"]), finding("partial", both, ["tags"]), true],
  ["less in part", finding("partial", both, []), finding("partial", both, ["tags"]), false],
  ["a failure", finding("partial", both), finding("failed", both), false],
  ["no verdict any more", finding("failed", bad), finding("partial", unclear, ["intent"]), false],
])("an answer that tells %s", (_, earlier, now, expected) => {
  expect(isNoWorse(earlier, now)).toBe(expected);
});
