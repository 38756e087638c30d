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
