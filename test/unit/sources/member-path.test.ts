import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/finding.js";
import { MemberPath } from "../../../src/sources/member-path.js";

function textAt(path: string, json: string): string {
  return new MemberPath(path).textIn(JSON.parse(json) as JsonObject, json);
}

describe("MemberPath", () => {
  it.each([
    ["a member", "ip", '{"ip":"192.0.2.1"}', "192.0.2.1"],
    ["a member of a member", "src.ip", '{"src":{"ip":"192.0.2.1"}}', "192.0.2.1"],
    ["an element of an array", "ips.1", '{"ips":["192.0.2.1","192.0.2.2"]}', "192.0.2.2"],
    ["a name with dots before a path", "a.b", '{"a":{"b":"path"},"a.b":"name"}', "name"],
    ["a number in its own digits", "n", '{"n":12345678901234567890}', "12345678901234567890"],
    ["a nested number in its own digits", "a.0.n", '{"a":[{"n":1.50}]}', "1.50"],
    ["a number under a name with dots", "a.n", '{"a.n":1.0}', "1.0"],
  ])("finds %s", (_, path, json, text) => {
    expect(textAt(path, json)).toBe(text);
  });

  it.each([
    ["null", '{"ip":null}'],
    ["a boolean", '{"ip":true}'],
    ["an object", '{"ip":{}}'],
    ["an array", '{"ip":["192.0.2.1"]}'],
    ["nothing", "{}"],
  ])("is empty for %s", (_, json) => {
    expect(textAt("ip", json)).toBe("");
  });

  it("stops where the path leads through a text", () => {
    expect(textAt("ip.length", '{"ip":"192.0.2.1"}')).toBe("");
  });

  it.each(["constructor.name", "__proto__.constructor.name", "toString", "ips.length"])(
    "does not find what is no member: %s",
    (path) => {
      expect(textAt(path, '{"ips":["192.0.2.1"]}')).toBe("");
    },
  );

  it("says whether an object has something there, be it null", () => {
    const path = new MemberPath("a.b");
    expect([path.isIn({ a: { b: null } }), path.isIn({ a: {} })]).toEqual([true, false]);
  });
});
