import { expect, test } from "vitest";
import { readJson } from "../../../src/core/json-members.js";

function read(text: string | Buffer) {
  return readJson(Buffer.from(text));
}

test("skips a byte order mark", () => {
  expect(read('\uFEFF{"a":1}').value).toEqual({ a: 1 });
});

test("decodes invalid UTF-8 as U+FFFD", () => {
  const bytes = Buffer.from('{"name":"Telef\u00f3nica"}', "latin1");
  expect(read(bytes).value).toEqual({ name: "Telef\u{FFFD}nica" });
});

test.each(["__proto__", "\\u005f_proto__", "_\\u005F\\u0070roto__", "__\\u0070\\u0072oto__"])(
  "drops a member named %s",
  (name) => {
    const { value } = read(`{"a":{"${name}":{"polluted":true},"b":1}}`);
    expect(JSON.stringify(value)).toBe('{"a":{"b":1}}');
  },
);

test("accepts a thousand levels of nesting", () => {
  expect(read("[".repeat(1000) + "]".repeat(1000)).fault).toBeNull();
});

test.each([["arrays", "[".repeat(100_000) + "]".repeat(100_000)]])(
  "rejects deeper nesting: %s",
  (_, text) => {
    expect(read(text).fault).toContain("nested deeper than 1000 levels");
  },
);

test.each([
  ["", "is empty"],
  ["NaN", "is not JSON"],
])("rejects %j", (text, fault) => {
  expect(read(text)).toEqual({ value: null, fault });
});
