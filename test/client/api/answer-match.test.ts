import { expect, test } from "vitest";
import { driftFor, itemDiffers, mismatch } from "../../../src/client/api/answer-match.js";
import type { JsonObject } from "../../../src/core/finding.js";
import type { ItemKind } from "../../../src/core/item/item.js";
import {
  domainResult,
  ipResult,
  observedActivity,
  plainResult,
  quickCheckResult,
} from "./answers.js";

const sha1 = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

test.each<[ItemKind, string, object, string]>([
  ["ip", "192.0.2.1", { item: "192.0.2.2", type: "IP" }, 'it names "192.0.2.2"'],
  ["ip", "192.0.2.1", { item: "192.0.2.1", type: "DOMAIN" }, "its type DOMAIN"],
  ["ip", "192.0.2.1", { item: "192.0.2.2", type: "HOST" }, 'it names "192.0.2.2"'],
  ["sha1", sha1, { item: `${sha1.slice(1)}0`, type: "SHA1" }, "it names"],
  ["domain", "example.com", { item: "example.com", type: "URL" }, "its type URL"],
  ["domain", "example.com", { item: "192.0.2.1", type: "IP" }, "its type IP"],
  ["email", "a@example.com", { item: "a@example.com", type: "CRYPTO_WALLET" }, "CRYPTO_WALLET"],
])("a result cannot be about the item %s %s, %j", (kind, value, result, fault) => {
  expect(mismatch({ kind, value }, result as never)).toContain(fault);
});

test.each<[ItemKind, string, object]>([
  ["ip", "192.0.2.1", { item: "192.0.2.1", type: "IP" }],
  ["ip", "10.0.0.1", { item: "10.0.0.1", type: "IP_BOGON" }],
  ["ip", "2001:db8::1", { item: "2001:0DB8:0:0:0:0:0:1", type: "IP" }],
  ["ip", "::ffff:192.0.2.1", { item: "::ffff:c000:201", type: "IP" }],
  ["sha1", sha1, { item: sha1.toUpperCase(), type: "SHA1" }],
  // An unknown type is counted as drift.
  ["ip", "192.0.2.1", { item: "192.0.2.1", type: "IPV4" }],
  ["ip", "192.0.2.1", { item: "192.0.2.1" }],
  // These kinds have more spellings than can be compared.
  ["domain", "example.com", { item: "example.org", type: "DOMAIN" }],
  ["url", "http://example.com/", { item: "http://example.com/b", type: "URL" }],
])("a result can be about the item %s %s, %j", (kind, value, result) => {
  expect(mismatch({ kind, value }, result as never)).toBeNull();
});

test.each([
  ["example.com", "EXAMPLE.com."],
  ["xn--bcher-kva.example", "b\u00fccher.example"],
  ["http://example.com/a%20b", "http://example.com/a b"],
  ["a@example.com", "A@Example.com"],
  ["192.0.2.1", " 192.0.2.1:80"],
])("another spelling is the same item %s: %s", (value, named) => {
  expect(itemDiffers(value, named)).toBe(false);
});

test.each([
  ["example.com", "example.org"],
  ["http://example.com/", "http://example.com/a"],
  ["http://example.com/", "example.com"],
  ["example.com", 7],
  ["example.com", "x".repeat(100_000)],
])("%s: %s is another item", (value, named) => {
  expect(itemDiffers(value, named)).toBe(true);
});

/** The drift of a result that names the requested item. */
function driftIn(result: JsonObject): readonly string[] {
  return driftFor({ kind: "ip", value: String(result["item"]) }, result);
}

test.each([ipResult(), domainResult(), plainResult("SHA1"), quickCheckResult()])(
  "known values of type $type are not drift",
  (result) => {
    expect(driftIn(result)).toEqual([]);
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
  expect(driftIn({ ...ipResult(), [member]: value })).toEqual([drift]);
});

test("reports an unknown status under the deployed name as drift of the specified member", () => {
  expect(driftIn({ item: "a", type: "URL", abusixMailBlocklist: "GREY" })).toEqual([
    "serviceMailBlocklist=GREY",
  ]);
});

test("checks the times of observed activity", () => {
  const activity = observedActivity();
  activity.honeypotInteractions.lastSeen = "now";
  expect(driftIn({ ...ipResult(), observedActivity: activity })).toEqual([
    "honeypotInteractions.lastSeen=not a date-time",
  ]);
});

test.each([
  ["example.org", ["item_differs"]],
  ["EXAMPLE.com.", []],
])("%s as the item of example.com is drift %j", (named, drift) => {
  const item = { kind: "domain", value: "example.com" } as const;
  expect(driftFor(item, { item: named, type: "DOMAIN" })).toEqual(drift);
});
