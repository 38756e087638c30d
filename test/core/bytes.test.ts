import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeBytes, encodeText } from "../../src/core/bytes.js";

it.each([
  ["UTF-8", Buffer.from("Übersicht 😀"), "Übersicht 😀"],
  ["each byte of invalid UTF-8 as a lone surrogate", Buffer.from("Übel", "latin1"), "\udcdcbel"],
  ["an overlong form byte by byte", Buffer.from([0xc0, 0xaf]), "\udcc0\udcaf"],
  ["an encoded surrogate byte by byte", Buffer.from([0xed, 0xa0, 0x80]), "\udced\udca0\udc80"],
  ["a sequence that is cut off byte by byte", Buffer.from([0xe2, 0x82]), "\udce2\udc82"],
])("decodes %s", (_, bytes, text) => {
  expect(decodeBytes(bytes)).toBe(text);
});

it("restores any decoded bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (array) => {
      const bytes = Buffer.from(array);
      expect(encodeText(decodeBytes(bytes)).equals(bytes)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

it.each(["\ud800", "\udfff", "\udc7f", "a\udbffb"])(
  "encodes other lone surrogates as U+FFFD (%j)",
  (text) => {
    expect(encodeText(text).toString("utf8")).toBe(text.replace(/[\ud800-\udfff]/u, "\ufffd"));
  },
);

it("keeps a surrogate pair whose second half looks like an escaped byte", () => {
  const text = "\ud83d\udc80\udc80";
  expect(encodeText(text)).toEqual(Buffer.from([0xf0, 0x9f, 0x92, 0x80, 0x80]));
});
