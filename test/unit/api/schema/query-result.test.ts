import { describe, expect, test } from "vitest";
import { type QueryResult, queryResultSchema } from "../../../../src/api/schema/query-result.js";
import { bogonResult, domainResult, ipResult, plainResult, without } from "../answers.js";

const plainTypes = ["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"];

const kinds = [ipResult(), bogonResult(), domainResult(), ...plainTypes.map(plainResult)];

function follows(value: unknown): boolean {
  return queryResultSchema.safeParse(value).success;
}

test.each(kinds.map((kind) => [kind.type, kind] as const))(
  "a full result of type %s follows the interface",
  (_, kind) => {
    expect(follows(kind)).toBe(true);
  },
);

describe.each(kinds.map((kind) => [kind.type, kind] as const))("type %s", (_, kind) => {
  test.each(Object.keys(kind))("requires %s", (member) => {
    expect(follows(without(kind, member))).toBe(false);
  });
});

test.each([
  "reverseDns.current",
  "abuseContact.email",
  "abuseContact.status",
  "abuseContact.lastVerification",
  "asn.countryCode",
  "asn.asn",
  "asn.name",
  "observedActivity.honeypotInteractions",
  "observedActivity.honeypotInteractions.firstSeen",
  "observedActivity.honeypotInteractions.lastSeen",
  "observedActivity.honeypotInteractions.observations",
  "observedActivity.honeypotInteractions.observations.0.firstSeen",
  "observedActivity.honeypotInteractions.observations.0.lastSeen",
  "observedActivity.honeypotInteractions.observations.0.service",
  "observedActivity.honeypotInteractions.observations.0.type",
  "observedActivity.spamtrapInteractions",
  "observedActivity.spamtrapInteractions.firstSeen",
  "observedActivity.spamtrapInteractions.lastSeen",
  "observedActivity.spamtrapInteractions.observations",
  "observedActivity.spamtrapInteractions.observations.0.firstSeen",
  "observedActivity.spamtrapInteractions.observations.0.lastSeen",
  "observedActivity.spamtrapInteractions.observations.0.type",
])("type IP requires %s", (path) => {
  expect(follows(without(ipResult(), path))).toBe(false);
});

test.each(["serviceMailBlocklist", "firstSeen", "lastSeen", "intent"])(
  "type IP accepts null for %s",
  (member) => {
    expect(follows({ ...ipResult(), [member]: null })).toBe(true);
  },
);

test.each([
  ["reverseDns", { current: null }],
  ["abuseContact", { email: null, status: "UNKNOWN", lastVerification: null }],
  ["asn", { countryCode: null, asn: null, name: null }],
  [
    "observedActivity",
    {
      honeypotInteractions: { firstSeen: null, lastSeen: null, observations: [] },
      spamtrapInteractions: { firstSeen: null, lastSeen: null, observations: [] },
    },
  ],
])("type IP accepts nulls within %s", (member, value) => {
  expect(follows({ ...ipResult(), [member]: value })).toBe(true);
});

test.each(["tags", "bogon", "reverseDns", "abuseContact", "asn", "observedActivity"])(
  "type IP rejects null for %s in a full result",
  (member) => {
    expect(follows({ ...ipResult(), [member]: null })).toBe(false);
  },
);

test("type DOMAIN accepts null for observedActivity", () => {
  expect(follows({ ...domainResult(), observedActivity: null })).toBe(true);
});

test("type IP has bogon false", () => {
  expect(follows({ ...ipResult(), bogon: true })).toBe(false);
});

test("type IP_BOGON has bogon true", () => {
  expect(follows({ ...bogonResult(), bogon: false })).toBe(false);
});

test("accepts unknown members", () => {
  expect(follows({ ...ipResult(), confidence: 0.5 })).toBe(true);
});

test.each([
  ["serviceMailBlocklist", "GREYLISTED"],
  ["intent", "evil"],
  ["firstSeen", "yesterday"],
])("accepts an unknown value of %s", (member, value) => {
  expect(follows({ ...ipResult(), [member]: value })).toBe(true);
});

test.each([
  ["tags", "spam:bulk"],
  ["tags", [1]],
  ["firstSeen", 1704067200],
  ["intent", ["malicious"]],
  ["asn", "AS64496"],
  ["reverseDns", { current: ["mail.example.com"] }],
])("rejects a wrong type of %s: %j", (member, value) => {
  expect(follows({ ...ipResult(), [member]: value })).toBe(false);
});

test("selects the kind by the type", () => {
  const intentOf = (result: QueryResult) => (result.type === "DOMAIN" ? result.intent : null);
  expect(intentOf(queryResultSchema.parse(domainResult()))).toBe("suspicious");
});
