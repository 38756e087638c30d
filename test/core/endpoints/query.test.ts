import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { endpoints } from "../../../src/core/endpoints/endpoints.js";
import {
  bogonResult,
  domainResult,
  ipResult,
  plainResult,
  quickCheckResult,
  without,
} from "../../client/api/answers.js";

const { result: full, partial } = endpoints.query;
const { result: quickSchema } = endpoints["quick-check"];

const plainTypes = ["URL", "SHA1", "CRYPTO_WALLET", "EMAIL"];
const kinds = [ipResult(), bogonResult(), domainResult(), ...plainTypes.map(plainResult)];

/** The members, or paths, without which a value does not follow the interface. */
function required(schema: z.ZodType, value: object, paths = Object.keys(value)): string[] {
  return paths.filter((path) => !schema.safeParse(without(value, path)).success);
}

/** The members that may be null. */
function nullable(schema: z.ZodType, value: object): string[] {
  return Object.keys(value).filter(
    (member) => schema.safeParse({ ...value, [member]: null }).success,
  );
}

const unseen = { firstSeen: null, lastSeen: null, observations: [] };

describe("a full result", () => {
  const follows = (value: unknown): boolean => full.safeParse(value).success;

  test.each(kinds)("of type $type follows the interface, and requires every member", (kind) => {
    expect(follows(kind)).toBe(true);
    expect(required(full, kind)).toEqual(Object.keys(kind));
  });

  test("requires the members within members", () => {
    const paths = [
      "reverseDns.current",
      ...["email", "status", "lastVerification"].map((name) => `abuseContact.${name}`),
      ...["countryCode", "asn", "name"].map((name) => `asn.${name}`),
      "observedActivity.honeypotInteractions.observations.0.service",
      ...["honeypot", "spamtrap"].flatMap((where) =>
        ["", ".firstSeen", ".lastSeen", ".observations", ".observations.0.type"]
          .concat(".observations.0.firstSeen", ".observations.0.lastSeen")
          .map((name) => `observedActivity.${where}Interactions${name}`),
      ),
    ];
    expect(required(full, ipResult(), paths)).toEqual(paths);
  });

  test("may have null in some members", () => {
    const some = ["serviceMailBlocklist", "firstSeen", "lastSeen", "intent"];
    expect(nullable(full, ipResult())).toEqual(some);
    expect(nullable(full, domainResult())).toEqual([...some, "observedActivity"]);
  });

  test.each([
    ["reverseDns", { current: null }],
    ["abuseContact", { email: null, status: "UNKNOWN", lastVerification: null }],
    ["asn", { countryCode: null, asn: null, name: null }],
    ["observedActivity", { honeypotInteractions: unseen, spamtrapInteractions: unseen }],
    ["serviceMailBlocklist", "GREYLISTED"],
    ["intent", "evil"],
    ["firstSeen", "yesterday"],
    ["confidence", 0.5],
  ])("accepts nulls within, unknown values and unknown members: %s", (member, value) => {
    expect(follows({ ...ipResult(), [member]: value })).toBe(true);
  });

  test("of type IP_BOGON has bogon true", () => {
    expect(follows({ ...bogonResult(), bogon: false })).toBe(false);
  });
});

describe("a partial result", () => {
  const follows = (value: unknown): boolean => partial.safeParse(value).success;

  test.each([ipResult(), domainResult()])(
    "of type $type requires item and type, and may have null in the others",
    (result) => {
      expect(follows(result)).toBe(true);
      expect(follows({ item: result.item, type: result.type })).toBe(true);
      expect(required(partial, result)).toEqual(["item", "type"]);
      expect(nullable(partial, result)).toEqual(
        Object.keys(result).filter((member) => member !== "item" && member !== "type"),
      );
    },
  );

  test.each(plainTypes)("of type %s is as the full result", (type) => {
    expect(follows(plainResult(type))).toBe(true);
    expect(follows(without(plainResult(type), "serviceMailBlocklist"))).toBe(false);
  });

  test("is validated in what it has, and is never about a bogon", () => {
    expect(follows(without(ipResult(), "asn.name"))).toBe(false);
    expect(follows({ ...ipResult(), bogon: true })).toBe(false);
    expect(follows(bogonResult())).toBe(false);
  });
});

test("a quick check requires its item; the others may be absent or null, but of no other type", () => {
  const quick = quickCheckResult();
  const others = Object.keys(quick).filter((member) => member !== "item");
  const follows = (value: unknown): boolean => quickSchema.safeParse(value).success;
  expect(follows(quick)).toBe(true);
  expect(required(quickSchema, quick)).toEqual(["item"]);
  expect(nullable(quickSchema, quick)).toEqual(others);
  expect(others.filter((member) => follows({ ...quick, [member]: 7 }))).toEqual([]);
});
