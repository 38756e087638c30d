import { expect, test } from "vitest";
import type { Finding, JsonObject } from "../../../src/core/finding.js";
import { triage } from "../../../src/lookup/combine.js";
import {
  complete,
  failed,
  invalid,
  item,
  quick as quickFinding,
  scripted,
  unaborted,
} from "./findings.js";

const nothing = { serviceMailBlocklist: "NOT_LISTED", intent: "none", activity: false };

function quick(members: JsonObject): Finding {
  return quickFinding({ item: item.value, ...nothing, ...members });
}

async function queriesAfter(finding: Finding): Promise<number> {
  const query = scripted(complete());
  await triage(query, scripted(finding))(item, unaborted());
  return query.asked.length;
}

test.each([
  { serviceMailBlocklist: "ACTIVE" },
  { serviceMailBlocklist: "PASSIVE" },
  { serviceMailBlocklist: undefined, abusixMailBlocklist: "ACTIVE" },
  { intent: "malicious" },
  { intent: "suspicious" },
  { activity: true },
])("a quick check with %j is followed by a query", async (members) => {
  expect(await queriesAfter(quick(members))).toBe(1);
});

test.each([
  {},
  { serviceMailBlocklist: "ALLOWLIST" },
  { serviceMailBlocklist: "INFORMATIONAL" },
  { intent: "unknown" },
  { activity: null, intent: null, serviceMailBlocklist: null },
])("a quick check with %j is final", async (members) => {
  expect(await queriesAfter(quick(members))).toBe(0);
});

test.each([failed("http_500"), invalid()])(
  "a quick check that is $status is final",
  async (one) => {
    expect(await queriesAfter(one)).toBe(0);
  },
);

test("a queried item has the data of both", async () => {
  const both = triage(scripted(complete()), scripted(quick({ activity: true })));
  const finding = await both(item, unaborted());
  expect(finding).toMatchObject({
    answers: { ...complete().answers, "quick-check": { result: { activity: true } } },
    attempts: 2,
  });
});
