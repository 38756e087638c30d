import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { conformsTo } from "../../../../src/api/schema/conforms.js";
import { successEnvelope } from "../../../../src/api/schema/envelope.js";
import {
  domainResultSchema,
  ipBogonResultSchema,
  ipResultSchema,
} from "../../../../src/api/schema/query-result.js";
import { partialIpResultSchema } from "../../../../src/api/schema/partial-result.js";
import { quickCheckResultSchema } from "../../../../src/api/schema/quick-check.js";

const activity = {
  firstSeen: null,
  lastSeen: "2026-01-01T00:00:00Z",
  observations: [{ firstSeen: "x", lastSeen: "y", service: "ssh", type: "login" }],
};

const ip = {
  item: "192.0.2.1",
  serviceMailBlocklist: null,
  type: "IP",
  bogon: false,
  tags: ["scanner:port-scan"],
  firstSeen: null,
  lastSeen: null,
  intent: "none",
  reverseDns: { current: [{ entry: "host.example" }] },
  abuseContact: { email: "abuse@example.net", status: "WORKING", lastVerification: null },
  asn: { countryCode: "DE", asn: "AS64496", name: "Example" },
  observedActivity: { honeypotInteractions: activity, spamtrapInteractions: activity },
};

describe("conformsTo", () => {
  it.each([
    ["a full IP result", ipResultSchema, ip],
    ["a bogon", ipBogonResultSchema, { item: "10.0.0.1", type: "IP_BOGON", bogon: true }],
    ["a partial IP result", partialIpResultSchema, { item: "192.0.2.1", type: "IP", bogon: null }],
    ["a quick check", quickCheckResultSchema, { item: "192.0.2.1", activity: true }],
    [
      "an envelope",
      successEnvelope(z.unknown()),
      { status: "success", statusCode: 200, result: ip },
    ],
  ])("is sure of %s", (_name, schema, value) => {
    expect(schema.safeParse(value).success).toBe(true);
    expect(conformsTo(schema)(value)).toBe(true);
  });

  it.each([
    ["an array in an object's place", ipBogonResultSchema, []],
    ["a missing member", ipBogonResultSchema, { item: "10.0.0.1", type: "IP_BOGON" }],
    ["a member of another type", z.looseObject({ a: z.array(z.string()) }), { a: ["b", 1] }],
    ["a rule beyond the type", z.string().max(1), "ab"],
    ["a kind that it does not know", z.looseObject({ a: z.date() }), { a: "today" }],
    ["an object that takes no other members", z.strictObject({ a: z.string() }), { a: "b" }],
  ])("leaves %s to the schema", (_name, schema, value) => {
    expect(conformsTo(schema)(value)).toBe(false);
  });

  it("never says yes to what the schema refuses", () => {
    const schemas = [ipResultSchema, domainResultSchema, quickCheckResultSchema] as const;
    const junk = fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.constant("IP"));
    const broken = fc
      .tuple(fc.constantFrom(...Object.keys(ip), "activity"), junk)
      .map(([member, value]) => Object.assign(structuredClone(ip), { [member]: value }));
    fc.assert(
      fc.property(fc.constantFrom(...schemas), fc.oneof(broken, junk), (schema, value) => {
        fc.pre(conformsTo(schema)(value));
        expect(schema.safeParse(value).success).toBe(true);
      }),
    );
  });
});
