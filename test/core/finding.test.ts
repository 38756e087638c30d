import fc from "fast-check";
import { expect, it } from "vitest";
import { blocklistStatuses, intents, mailBlocklist } from "../../src/core/endpoints/endpoint.js";
import { hasOtherWord, verdictOf } from "../../src/core/verdict.js";
import { aFinding, type FindingParts } from "../helpers/enriched-rows.js";

const listed = { serviceMailBlocklist: "ACTIVE" };
const unlisted = { serviceMailBlocklist: "NOT_LISTED" };

it.each<[FindingParts, string]>([
  [{ query: { intent: "malicious" } }, "malicious"],
  [{ query: { intent: "suspicious" } }, "suspicious"],
  [{ query: { intent: "none", ...listed } }, "listed"],
  [{ query: { abusixMailBlocklist: "ACTIVE" } }, "listed"],
  [{ quickCheck: { intent: "unknown", ...listed } }, "listed"],
  [{ query: unlisted, quickCheck: { abusixMailBlocklist: "ACTIVE" } }, "listed"],
  [{ query: { intent: "suspicious", ...listed } }, "suspicious"],
  [{ query: { intent: "none" }, quickCheck: { intent: "malicious" } }, "malicious"],
  [{ query: { intent: "none" }, quickCheck: { intent: "suspicious" } }, "suspicious"],
  // Of the lookup that answered if the other failed.
  [{ status: "failed", quickCheck: { intent: "malicious" } }, "malicious"],
  [{ status: "invalid", query: listed }, "listed"],
])("the verdict of %j is %s", (finding, expected) => {
  expect(verdictOf(aFinding(finding))).toBe(expected);
});

const nothing = { intent: "none", serviceMailBlocklist: "NOT_LISTED" };
it.each([
  nothing,
  { ...nothing, intent: "unknown" },
  { ...nothing, serviceMailBlocklist: "ALLOWLIST" },
  { ...nothing, serviceMailBlocklist: "PASSIVE" },
  { serviceMailBlocklist: "NOT_LISTED", type: "URL" },
  { type: "IP_BOGON", bogon: true },
])("the verdict of %j is none", (answer) => {
  for (const answers of [{ query: answer }, { quickCheck: answer }]) {
    expect(verdictOf(aFinding(answers))).toBe("none");
  }
  expect(verdictOf(aFinding({ query: answer, quickCheck: answer }))).toBe("none");
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

it("a verdict is unknown for a word that nobody documented, unless another word accuses", () => {
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
      const finding = aFinding({ status, query: other, quickCheck: listed });
      expect(verdictOf(finding)).toBe("listed");
    }),
  );
});

it.each([{}, { ...nothing, intent: null }, { intent: "none", type: "DOMAIN" }])(
  "the verdict of a quick check of %j alone is unknown",
  (answer) => {
    expect(verdictOf(aFinding({ quickCheck: answer }))).toBeNull();
    expect(verdictOf(aFinding({ query: nothing, quickCheck: answer }))).toBe("none");
  },
);

it.each(["failed", "invalid"] as const)("a verdict is unknown if one lookup is %s", (status) => {
  for (const answers of [{ quickCheck: nothing }, { query: nothing }, {}]) {
    expect(verdictOf(aFinding({ status, ...answers }))).toBeNull();
  }
});

const withoutIntent = { intent: null, ...unlisted };
const deployed = { abusixMailBlocklist: "NOT_LISTED" };
const withoutBlocklist = { intent: "none", serviceMailBlocklist: null };
it.each([
  ["the intent", withoutIntent, ["intent"], null, null],
  ["the blocklist status", withoutBlocklist, ["serviceMailBlocklist"], null, null],
  ["both", {}, ["serviceMailBlocklist", "intent"], null, null],
  ["neither", { intent: "none", serviceMailBlocklist: "PASSIVE" }, ["tags", "asn"], null, "none"],
  ["the intent, which a URL doesn't have", withoutIntent, [], null, "none"],
  ["the intent of a listed item", listed, ["intent"], null, "listed"],
  ["what the quick check has", withoutIntent, ["intent"], withoutBlocklist, "none"],
  ["what the quick check lacks too", withoutIntent, ["intent"], withoutIntent, null],
  ["more than the quick check has", {}, ["serviceMailBlocklist", "intent"], withoutIntent, null],
  ["what a deployed one has", withoutBlocklist, ["serviceMailBlocklist"], deployed, "none"],
])("the verdict of a partial answer that lacks %s", (_, query, missing, quickCheck, expected) => {
  expect(verdictOf(aFinding({ status: "partial", query, missing, quickCheck }))).toBe(expected);
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
