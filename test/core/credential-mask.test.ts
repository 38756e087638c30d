import { expect, test } from "vitest";
import fc from "fast-check";
import { CredentialMask } from "../../src/core/redaction.js";
import { randomRounds } from "../helpers/random-rounds.js";

const key = 'k3y/8f7e+"d5\\c4b=';
const mask = new CredentialMask(key);

test.each([
  ["verbatim", `key ${key} refused`, "key [hidden] refused"],
  ["percent-encoded", `?k=${encodeURIComponent(key)}&a=1`, "?k=[hidden]&a=1"],
  ["percent-encoded in lower case", encodeURIComponent(key).toLowerCase(), "[hidden]"],
  ["in JSON", JSON.stringify({ message: key }), '{"message":"[hidden]"}'],
  [
    "in JSON within JSON",
    JSON.stringify({ m: JSON.stringify({ k: key }) }),
    String.raw`{"m":"{\"k\":\"[hidden]\"}"}`,
  ],
  ["with a slash that JSON escapes", JSON.stringify(key).replaceAll("/", "\\/"), '"[hidden]"'],
  [
    "with entities in JSON that escapes ampersands",
    JSON.stringify(key.replace("+", "&#43;").replace('"', "&#34;")).replaceAll("&", "\\u0026"),
    '"[hidden]"',
  ],
  ["with Unicode escapes", `"${key.replace("k", "\\u006b").replace("+", "\\u002B")}`, '"'],
  ["in a header line", `x-api-key: ${key.slice(0, 6)}, refused`, "x-api-key: [hidden], refused"],
  ["as Bearer", "with Authorization: Bearer k3y/8f…", "with Authorization: Bearer [hidden]"],
  ["as a member", '{"X-Api-Key": "k3y"}', '{"X-Api-Key": "[hidden]"}'],
  ["as a member of JSON within JSON", String.raw`{\"x-api-key\":\"k3y\"}`, "[hidden]"],
])("a credential in text is hidden %s", (_, text, expected) => {
  const masked = mask.inText(text);
  expect(masked).toContain(expected);
  expect(masked).not.toMatch(/k3y/i);
  expect(mask.inErrorBody(Buffer.from(text)).toString()).toBe(masked);
});

test("a credential is hidden in base64 at any byte offset", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.boolean(), (before, after, isUrl) => {
      const encoded = Buffer.from(before + key + after).toString(isUrl ? "base64url" : "base64");
      const masked = mask.inText(`${encoded} is wrong`);
      const rest = masked.replace("[hidden]", "").replace(" is wrong", "");
      // At most four bits of the key may remain at either end.
      expect(masked).toContain("[hidden]");
      expect(Buffer.from(rest, "base64").toString("latin1")).not.toContain("k3y");
    }),
  );
});

type Names = Readonly<Record<string, string>>;
const named: Names = { "&": "&amp;", '"': "&quot;", "<": "&lt;" };
const more: Names = { "+": "&plus;", "/": "&sol;", "=": "&equals;", ".": "&period;" };
/** As PHP writes HTML5. */
const namedMore: Names = { ...named, ...more, _: "&lowbar;" };
const hexOf = (character: string): string => character.charCodeAt(0).toString(16).padStart(2, "0");
const eachAs = (write: (character: string) => string) => (text: string) =>
  Array.from(text, write).join("");

const encodings = fc.constantFrom(
  (text: string) => text,
  (text: string) => Buffer.from(text).toString("base64"),
  (text: string) => Buffer.from(text).toString("base64").replaceAll("=", ""),
  (text: string) => Buffer.from(`user:${text}`).toString("base64url"),
  (text: string) => encodeURIComponent(Buffer.from(text).toString("base64")),
  (text: string) => Buffer.from(text).toString("hex"),
  (text: string) => Buffer.from(text).toString("hex").toUpperCase(),
  encodeURIComponent,
  (text: string) => encodeURIComponent(encodeURIComponent(text)),
  eachAs((character) => `%${hexOf(character)}`),
  eachAs((character) => `&#x${hexOf(character).toUpperCase()};`),
  eachAs((character) => named[character] ?? `&#0${character.charCodeAt(0)};`),
  eachAs((character) => named[character] ?? character),
  eachAs((character) => namedMore[character] ?? character),
  eachAs((character) => `&amp;#${character.charCodeAt(0)};`),
);

test("hides every encoding of a credential in data and in text", () => {
  const credential = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 8,
    maxLength: 48,
  });
  fc.assert(
    fc.property(credential, encodings, (secret, encode) => {
      const body = Buffer.from(JSON.stringify({ tags: ["a:b", `<${encode(secret)}>`] }));
      const hides = new CredentialMask(secret);
      for (const masked of [hides.inData(body).toString(), hides.inText(body.toString())]) {
        // Base64 keeps up to four bits of the credential at either end.
        expect(masked).toMatch(/^\{"tags":\["a:b","<.{0,9}\[hidden\].{0,9}>"\]\}$/);
      }
    }),
    randomRounds(500),
  );
});

test("leaves other words alone", () => {
  for (const text of ["not authorized: no key", '{"x-api-key":null}', "cookies: none", ""]) {
    expect(mask.inText(text)).toBe(text);
  }
});

test("does not hide twice", () => {
  const text = mask.inText(`Authorization: Bearer ${key}`);
  expect(mask.inText(text)).toBe(text);
});

test("keeps every other byte of data", () => {
  const bytes = (text: string) =>
    Buffer.concat([Buffer.from([0xff, 0xc3, 0xa9]), Buffer.from(text)]);
  const data = bytes(JSON.stringify({ tags: [key, "a:b"], url: encodeURIComponent(key) }));
  expect(mask.inData(data)).toEqual(bytes('{"tags":["[hidden]","a:b"],"url":"[hidden]"}'));
  const other = bytes("{}");
  expect(mask.inData(other)).toBe(other);
});

test("masks megabytes in linear time", () => {
  const start = performance.now();
  for (const unit of ["A", "\\", "%", "k3y/", " ", "cookie:"]) {
    mask.inErrorBody(Buffer.from(unit.repeat(200_000)));
  }
  expect(performance.now() - start).toBeLessThan(10_000);
});

test("hides a short credential in text where it stands alone, and never in data", () => {
  const short = new CredentialMask("abc");
  expect(short.inText("the key abc, not abcd")).toBe("the key [hidden], not abcd");
  const data = Buffer.from('["abc"]');
  expect(short.inData(data)).toBe(data);
});
