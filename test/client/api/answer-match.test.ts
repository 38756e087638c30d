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
  ["example.com", "EXAMPLE.com.", false],
  ["xn--bcher-kva.example", "b\u00fccher.example", false],
  ["http://example.com/a%20b", "http://example.com/a b", false],
  ["a@example.com", "A@Example.com", false],
  ["192.0.2.1", " 192.0.2.1:80", false],
  ["example.com", "example.org", true],
  ["http://example.com/", "http://example.com/a", true],
  ["http://example.com/", "example.com", true],
  ["example.com", 7, true],
  ["example.com", "x".repeat(100_000), true],
])("an answer to %s that names %s is about another item: %j", (value, named, differs) => {
  expect(itemDiffers(value, named)).toBe(differs);
  const drift = driftFor({ kind: "domain", value }, { item: named, type: "DOMAIN" });
  expect(drift).toEqual(differs ? ["item_differs"] : []);
});

const { honeypotInteractions, ...others } = observedActivity();

test.each<[string | null, JsonObject]>([
  [null, ipResult()],
  [null, domainResult()],
  [null, plainResult("SHA1")],
  [null, quickCheckResult()],
  ["type=PHONE", { ...ipResult(), type: "PHONE" }],
  ["intent=evil", { ...ipResult(), intent: "evil" }],
  ["serviceMailBlocklist=GREY", { ...ipResult(), serviceMailBlocklist: "GREY" }],
  ["serviceMailBlocklist=GREY", { item: "a", type: "URL", abusixMailBlocklist: "GREY" }],
  ["abuseContact.status=ASLEEP", { ...ipResult(), abuseContact: { status: "ASLEEP" } }],
  ["firstSeen=not a date-time", { ...ipResult(), firstSeen: "yesterday" }],
  ["lastSeen=not a date-time", { ...ipResult(), lastSeen: "2023-13-01T00:00:00Z" }],
  [
    "honeypotInteractions.lastSeen=not a date-time",
    {
      ...ipResult(),
      observedActivity: {
        ...others,
        honeypotInteractions: { ...honeypotInteractions, lastSeen: "now" },
      },
    },
  ],
])("the drift of an answer is %s: %j", (drift, result) => {
  const item = { kind: "ip", value: String(result["item"]) } as const;
  expect(driftFor(item, result)).toEqual(drift === null ? [] : [drift]);
});
