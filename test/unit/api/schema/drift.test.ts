import { expect, test } from "vitest";
import { driftOf } from "../../../../src/api/schema/drift.js";
import { mailBlocklist } from "../../../../src/api/schema/drift.js";
import {
  domainResult,
  ipResult,
  observedActivity,
  plainResult,
  quickCheckResult,
} from "../answers.js";

test.each([ipResult(), domainResult(), plainResult("SHA1"), quickCheckResult()])(
  "known values of type $type are not drift",
  (result) => {
    expect(driftOf(result)).toEqual([]);
  },
);

test("nulls are not drift", () => {
  const nulls = Object.keys(ipResult()).map((member) => [member, null]);
  expect(driftOf(Object.fromEntries(nulls))).toEqual([]);
});

test.each([
  ["type", "PHONE", "type=PHONE"],
  ["serviceMailBlocklist", "GREY", "serviceMailBlocklist=GREY"],
  ["intent", "evil", "intent=evil"],
  ["firstSeen", "yesterday", "firstSeen=not a date-time"],
  ["lastSeen", "2023-13-01T00:00:00Z", "lastSeen=not a date-time"],
  [
    "abuseContact",
    { email: null, status: "ASLEEP", lastVerification: null },
    "abuseContact.status=ASLEEP",
  ],
])("an unknown value of %s is drift", (member, value, drift) => {
  expect(driftOf({ ...ipResult(), [member]: value })).toEqual([drift]);
});

test("reports an unknown status under the deployed name as drift of the specified member", () => {
  expect(driftOf({ item: "a", type: "URL", abusixMailBlocklist: "GREY" })).toEqual([
    "serviceMailBlocklist=GREY",
  ]);
});

test("checks the times of observed activity", () => {
  const activity = observedActivity();
  activity.honeypotInteractions.lastSeen = "now";
  expect(driftOf({ ...ipResult(), observedActivity: activity })).toEqual([
    "honeypotInteractions.lastSeen=not a date-time",
  ]);
});

test.each(["2023-01-02T03:04:05Z", "2023-01-02t03:04:05.123456z", "2023-01-02T23:59:60+05:30"])(
  "accepts %s as a date-time",
  (firstSeen) => {
    expect(driftOf({ ...ipResult(), firstSeen })).toEqual([]);
  },
);

test("truncates a long value", () => {
  const [drift = ""] = driftOf({ ...ipResult(), intent: "e".repeat(10_000) });
  expect(drift.length).toBeLessThan(100);
});

test.each([
  [{ serviceMailBlocklist: "ACTIVE" }, "ACTIVE"],
  [{ abusixMailBlocklist: "ACTIVE" }, "ACTIVE"],
  [{ serviceMailBlocklist: "PASSIVE", abusixMailBlocklist: "ACTIVE" }, "PASSIVE"],
  [{ serviceMailBlocklist: null }, null],
  [{ serviceMailBlocklist: 7 }, null],
  [{}, null],
])("the mail blocklist status of %j is %j", (result, status) => {
  expect(mailBlocklist(result)).toBe(status);
});
