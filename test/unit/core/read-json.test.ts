import { expect, test } from "vitest";
import { readJson } from "../../../src/core/json-members.js";

function read(text: string | Buffer) {
  return readJson(Buffer.from(text));
}

test("a byte order mark is passed over", () => {
  expect(read('\uFEFF{"a":1}').value).toEqual({ a: 1 });
});

test("bytes that are no UTF-8 come out as U+FFFD", () => {
  const bytes = Buffer.from('{"name":"Telef\u00f3nica"}', "latin1");
  expect(read(bytes).value).toEqual({ name: "Telef\u{FFFD}nica" });
});

test("of members named twice the last one counts", () => {
  expect(read('{"a":1,"a":2}').value).toEqual({ a: 2 });
});

test.each(["__proto__", "\\u005f_proto__", "_\\u005F\\u0070roto__", "__\\u0070\\u0072oto__"])(
  "a member named %s is left out",
  (name) => {
    const { value } = read(`{"a":{"${name}":{"polluted":true},"b":1}}`);
    expect(JSON.stringify(value)).toBe('{"a":{"b":1}}');
  },
);

test("a text that mentions __proto__ is kept", () => {
  expect(read('{"a":"__proto__"}').value).toEqual({ a: "__proto__" });
});

test("nesting up to a thousand levels is read", () => {
  expect(read("[".repeat(1000) + "]".repeat(1000)).fault).toBeNull();
});

test.each([
  ["arrays", "[".repeat(100_000) + "]".repeat(100_000)],
  ["objects", '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000)],
  ["arrays that never close", "[".repeat(100_000)],
])("deeper nesting is not: %s", (_, text) => {
  expect(read(text).fault).toContain("nested deeper than 1000 levels");
});

test("brackets within texts are no nesting", () => {
  const value = { a: '\\"['.repeat(2000), b: "[[[[".repeat(2000) };
  expect(read(JSON.stringify(value)).value).toEqual(value);
});

test.each([
  ["", "is empty"],
  ["{", "is no JSON"],
  ["NaN", "is no JSON"],
  ["{'a':1}", "is no JSON"],
])("%j is no JSON", (text, fault) => {
  expect(read(text)).toEqual({ value: null, fault });
});
