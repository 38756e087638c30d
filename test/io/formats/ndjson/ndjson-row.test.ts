import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/finding.js";
import { itemTextOf, valuesAt } from "../../../../src/io/formats/ndjson/ndjson-output.js";

function valueAt(path: string, json: string): unknown {
  return valuesAt(path, JSON.parse(json) as JsonObject)[0];
}

describe("valuesAt", () => {
  it.each([
    ["a member", "ip", '{"ip":"192.0.2.1"}', "192.0.2.1"],
    ["a member of a member", "src.ip", '{"src":{"ip":"192.0.2.1"}}', "192.0.2.1"],
    ["an element of an array", "ips.1", '{"ips":["192.0.2.1","192.0.2.2"]}', "192.0.2.2"],
    ["a name with dots before a path", "a.b", '{"a":{"b":"path"},"a.b":"name"}', "name"],
    ["null", "a.b", '{"a":{"b":null}}', null],
  ])("finds %s", (_, path, json, value) => {
    expect(valueAt(path, json)).toBe(value);
  });

  it("stops at a string", () => {
    expect(valueAt("ip.length", '{"ip":"192.0.2.1"}')).toBeUndefined();
  });

  it.each(["constructor.name", "__proto__.constructor.name", "toString", "ip"])(
    "ignores inherited properties: %s",
    (path) => {
      expect(valueAt(path, '{"ips":["192.0.2.1"]}')).toBeUndefined();
    },
  );
});

it.each([
  ["a string", "192.0.2.1", "192.0.2.1"],
  ["an array with a single string", ["192.0.2.1"], "192.0.2.1"],
  ["null", null, ""],
  ["nothing", undefined, ""],
  ["an array of several", ["192.0.2.1", "192.0.2.2"], null],
  ["an empty array", [], null],
  ["an array with a number", [1], null],
  ["an object", { ip: "192.0.2.1" }, null],
  ["a number", 3221225985, null],
])("itemTextOf reads %s", (_, value, text) => {
  expect(itemTextOf(value)).toBe(text);
});
