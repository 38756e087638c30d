import { expect, test } from "vitest";
import { mergePartials } from "../../../../src/client/lookup/attempt/retry.js";
import { partial, quick } from "../findings.js";

const asn = { countryCode: "US", asn: "AS64500", name: "Example" };

test("prefers the most complete answer, whenever it came", () => {
  const full = partial({ intent: "none", asn: null }, ["asn"]);
  const poor = partial({ intent: null, asn: null }, ["intent", "asn"]);
  expect(mergePartials([full, poor]).answers.query?.result).toEqual(full.answers.query?.result);
});

test("fills the gaps of a later answer from an earlier one", () => {
  const earlier = partial({ asn, tags: null }, ["tags"]);
  const later = partial({ asn: null, tags: ["a:b"] }, ["asn"]);
  expect(mergePartials([earlier, later]).answers.query?.result).toMatchObject({
    asn,
    tags: ["a:b"],
  });
});

test("lists as missing what no answer had, in the order of the interface", () => {
  const earlier = partial({}, ["tags", "intent", "asn"]);
  const later = partial({}, ["tags", "firstSeen", "asn"]);
  expect(mergePartials([earlier, later]).missing).toEqual(["tags", "asn"]);
});

test("fills members from the latest answer that has them", () => {
  const merged = mergePartials([
    partial({ intent: "malicious", asn: "first" }, ["tags", "firstSeen"]),
    partial({ intent: "unknown", asn: null }, ["asn", "tags", "firstSeen"]),
    partial({ intent: null, asn: null, tags: [] }, ["intent", "asn"]),
  ]);
  expect(merged.answers.query?.result).toMatchObject({ intent: "unknown", asn: "first", tags: [] });
});

test("fills nothing from an answer of another type", () => {
  const merged = mergePartials([
    partial({ type: "DOMAIN", intent: "none" }, ["tags"]),
    partial({ intent: null }, ["intent"]),
  ]);
  expect([merged.answers.query?.result["intent"], merged.missing]).toEqual([null, ["intent"]]);
});

test("fills the blocklist status under the service's name for it", () => {
  const merged = mergePartials([
    partial({ abusixMailBlocklist: "ACTIVE", tags: null }, ["tags"]),
    partial({ abusixMailBlocklist: null, tags: [] }, ["serviceMailBlocklist"]),
  ]);
  expect(merged.answers.query?.result["abusixMailBlocklist"]).toBe("ACTIVE");
});

test("merges partial quick checks separately", () => {
  const merged = mergePartials([
    { ...quick({ type: "IP", intent: "none" }), missing: ["activity"] },
    { ...quick({ type: "IP", intent: null, activity: true }), missing: ["intent"] },
  ]);
  expect(merged.answers).toEqual({
    "quick-check": { result: { type: "IP", intent: "none", activity: true } },
  });
});

test("copies the text of filled members as received", () => {
  const earlier = '{"asn": {"asn":"AS64500","n":1.0}, "tags":null, "x":1}';
  const later = '{ "asn":null,"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}';
  const merged = mergePartials([
    partial({ asn, tags: null }, ["tags"], earlier),
    partial({ asn: null, tags: ["a:b"] }, ["asn"], later),
  ]);
  expect(merged.answers.query?.text).toBe(
    '{"asn":{"asn":"AS64500","n":1.0},"tags":[ "a:b" ],"n":123456789012345678901,"__proto__":0}',
  );
});
