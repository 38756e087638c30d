import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  asObject,
  cellText,
  jsonText,
  memberTexts,
  parseExact,
  readJson,
  wellFormedJson,
} from "../../src/core/json-members.js";
import { anyText } from "../helpers/any-text.js";

it("memberTexts keeps each value as written", () => {
  const text = '{ "a" : 1.0 , "b":1e400,"c": 12345678901234567890 ,"d":[ 1,{"e":"]}"}] }';
  expect([...memberTexts(text)]).toEqual([
    ["a", "1.0"],
    ["b", "1e400"],
    ["c", "12345678901234567890"],
    ["d", '[ 1,{"e":"]}"}]'],
  ]);
});

it("memberTexts decodes escapes in names", () => {
  expect([...memberTexts('{"a\\"\\\\\\u00fc":1}').keys()]).toEqual(['a"\\ü']);
});

it("memberTexts agrees with JSON.parse on any object", () => {
  fc.assert(
    fc.property(
      fc.dictionary(anyText(), fc.jsonValue()),
      fc.constantFrom(0, 2, "\t"),
      (object, indent) => {
        const members = memberTexts(JSON.stringify(object, null, indent));
        const values = Array.from(members, ([name, text]) => [name, JSON.parse(text)]);
        expect(Object.fromEntries(values)).toEqual(JSON.parse(JSON.stringify(object)));
      },
    ),
  );
});

it.each([
  ['"text"', "text"],
  ['"a\\n\\u00fc"', "a\nü"],
  ['""', ""],
  ["null", ""],
  ["true", "true"],
  ["1.0", "1.0"],
  ['[1, "a"]', '[1, "a"]'],
])("cellText turns %s into the text %j", (value, text) => {
  expect(cellText(value)).toBe(text);
});

test.each([
  ["raw", '["B\udcfcro"]', '["B\uFFFDro"]'],
  ["escaped", '["B\\udcfcro\\uD800"]', '["B\uFFFDro\uFFFD"]'],
  ["in a pair", '["\\ud83d\\ude00\u{1F600}"]', '["\\ud83d\\ude00\u{1F600}"]'],
  ["behind an escaped backslash", '["\\\\udcfc\\\\\\udcfc"]', '["\\\\udcfc\\\\\uFFFD"]'],
])("wellFormedJson replaces lone surrogates: %s", (_, text, expected) => {
  expect(wellFormedJson(text)).toBe(expected);
});

test.each([
  ["skips a byte order mark", Buffer.from('\uFEFF{"a":1}'), { a: 1 }],
  [
    "decodes invalid UTF-8 as U+FFFD",
    Buffer.from('{"name":"Telef\u00f3nica"}', "latin1"),
    { name: "Telef\u{FFFD}nica" },
  ],
])("%s", (_, bytes, value) => {
  expect(readJson(bytes)).toMatchObject({ value, fault: null });
});

test.each(["__proto__", "\\u005f_proto__", "_\\u005F\\u0070roto__", "__\\u0070\\u0072oto__"])(
  "drops a member named %s",
  (name) => {
    const { value } = readJson(Buffer.from(`{"a":{"${name}":{"polluted":true},"b":1}}`));
    expect(JSON.stringify(value)).toBe('{"a":{"b":1}}');
  },
);

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

test.each([
  ["a thousand levels of nesting", nested(1000), null],
  ["deeper nesting", nested(100_000), expect.stringContaining("nested deeper than 1000 levels")],
  ["nothing", "", "is empty"],
  ["NaN", "NaN", "is not JSON"],
])("the fault of %s", (_, text, fault) => {
  expect(readJson(Buffer.from(text)).fault).toEqual(fault);
});

describe("parseExact and jsonText", () => {
  it.each([
    "12345678901234567890",
    '{"a":[-9007199254740993,1e400,0.1234567890123456789],"12345678901234567890":1}',
    '"12345678901234567890 \\" 1e400"',
    '{"__proto__x":1234567890123456789}',
  ])("keep every digit of %s", (text) => {
    expect(jsonText(parseExact(text))).toBe(text);
  });

  it("agree with JSON on any value that JSON keeps", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(jsonText(parseExact(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("take such a number for no object, and drop a member named __proto__", () => {
    expect(asObject(parseExact("1e400"))).toBeNull();
    expect(jsonText(parseExact('{"__proto__":{"a":1e400},"b":1e400}'))).toBe('{"b":1e400}');
  });
});
