import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blocklistStatuses, intents, mailBlocklist } from "../../src/core/endpoints/endpoint.js";
import { hasOtherWord, verdictOf } from "../../src/core/verdict.js";
import { aFinding } from "../helpers/enriched-rows.js";

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
    [{ intent: "none" }, { intent: "suspicious" }, "suspicious"],
  ])("of the query %j and the quick check %j is %s", (query, quickCheck, expected) => {
    expect(verdictOf(aFinding({ query, quickCheck }))).toBe(expected);
  });

  const nothing = { intent: "none", serviceMailBlocklist: "NOT_LISTED" };
  it.each([
    nothing,
    { ...nothing, intent: "unknown" },
    { ...nothing, serviceMailBlocklist: "ALLOWLIST" },
    { ...nothing, serviceMailBlocklist: "PASSIVE" },
    { serviceMailBlocklist: "NOT_LISTED", type: "URL" },
    { type: "IP_BOGON", bogon: true },
  ])("of an answer of %j is none", (answer) => {
    expect(verdictOf(aFinding({ query: answer, quickCheck: answer }))).toBe("none");
    expect(verdictOf(aFinding({ query: answer }))).toBe("none");
    expect(verdictOf(aFinding({ quickCheck: answer }))).toBe("none");
  });

  const otherWord = (known: readonly unknown[]) =>
    fc
      .oneof(
        fc.constantFrom<unknown>("MALICIOUS", "critical", "", "none ", "constructor", 0, false),
        fc.string(),
        fc.jsonValue(),
      )
      .filter((word) => word !== null && !known.includes(word));
  const documented = {
    intent: fc.constant("none"),
    serviceMailBlocklist: fc.constant("NOT_LISTED"),
  };
  const otherAnswer = fc.oneof(
    fc.record({ ...documented, intent: otherWord(intents) }),
    fc.record({ ...documented, serviceMailBlocklist: otherWord(blocklistStatuses) }),
    fc.record({ intent: documented.intent, abusixMailBlocklist: otherWord(blocklistStatuses) }),
  );

  it("is unknown for a word that nobody documented, unless another word accuses", () => {
    fc.assert(
      fc.property(otherAnswer, fc.boolean(), (other, isPartial) => {
        const status = isPartial ? "partial" : "complete";
        for (const answers of [
          { query: other },
          { query: nothing, quickCheck: other },
          { query: other, quickCheck: nothing },
          { quickCheck: { ...other, bogon: true } },
        ]) {
          const finding = aFinding({ status, ...answers });
          expect([verdictOf(finding), hasOtherWord(finding)]).toEqual([null, true]);
        }
        const quickCheck = { serviceMailBlocklist: "ACTIVE" };
        expect(verdictOf(aFinding({ status, query: other, quickCheck }))).toBe("listed");
      }),
    );
  });

  it.each([{}, { ...nothing, intent: null }, { intent: "none", type: "DOMAIN" }])(
    "of a quick check of %j alone is unknown",
    (answer) => {
      expect(verdictOf(aFinding({ quickCheck: answer }))).toBeNull();
      expect(verdictOf(aFinding({ query: nothing, quickCheck: answer }))).toBe("none");
    },
  );

  it("comes from the lookup that answered if the other failed", () => {
    const quickCheck = { intent: "malicious" };
    expect(verdictOf(aFinding({ status: "failed", quickCheck }))).toBe("malicious");
    const query = { serviceMailBlocklist: "ACTIVE" };
    expect(verdictOf(aFinding({ status: "invalid", query }))).toBe("listed");
  });

  it.each(["failed", "invalid"] as const)("is unknown if one lookup is %s", (status) => {
    const answer = { intent: "none", serviceMailBlocklist: "NOT_LISTED" };
    expect(verdictOf(aFinding({ status, quickCheck: answer }))).toBeNull();
    expect(verdictOf(aFinding({ status, query: answer }))).toBeNull();
    expect(verdictOf(aFinding({ status }))).toBeNull();
  });

  const withoutIntent = { intent: null, serviceMailBlocklist: "NOT_LISTED" };
  const withoutBlocklist = { intent: "none", serviceMailBlocklist: null };
  it.each([
    ["the intent", withoutIntent, ["intent"], null, null],
    ["the blocklist status", withoutBlocklist, ["serviceMailBlocklist"], null, null],
    ["both", {}, ["serviceMailBlocklist", "intent"], null, null],
    ["neither", { intent: "none", serviceMailBlocklist: "PASSIVE" }, ["tags", "asn"], null, "none"],
    ["the intent, which a URL doesn't have", withoutIntent, [], null, "none"],
    ["the intent of a listed item", { serviceMailBlocklist: "ACTIVE" }, ["intent"], null, "listed"],
    ["what the quick check has", withoutIntent, ["intent"], withoutBlocklist, "none"],
    ["what the quick check lacks too", withoutIntent, ["intent"], withoutIntent, null],
    ["more than the quick check has", {}, ["serviceMailBlocklist", "intent"], withoutIntent, null],
    [
      "what a deployed quick check has",
      withoutBlocklist,
      ["serviceMailBlocklist"],
      { abusixMailBlocklist: "NOT_LISTED" },
      "none",
    ],
  ])("of a partial answer that lacks %s", (_, query, missing, quickCheck, expected) => {
    expect(verdictOf(aFinding({ status: "partial", query, missing, quickCheck }))).toBe(expected);
  });
});

it.each([
  [{ serviceMailBlocklist: "ACTIVE" }, "ACTIVE"],
  [{ abusixMailBlocklist: "ACTIVE" }, "ACTIVE"],
  [{ serviceMailBlocklist: "PASSIVE", abusixMailBlocklist: "ACTIVE" }, "PASSIVE"],
  [{ serviceMailBlocklist: null }, null],
  [{ serviceMailBlocklist: 7 }, null],
  [{}, null],
])("the mail blocklist status of %j is %j", (result, status) => {
  expect(mailBlocklist(result)).toBe(status);
});
