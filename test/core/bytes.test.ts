import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeBytes, encodeText } from "../../src/core/bytes.js";

describe("decodeBytes", () => {
  it("reads UTF-8", () => {
    expect(decodeBytes(Buffer.from("Übersicht 😀"))).toBe("Übersicht 😀");
  });

  it("escapes each byte of invalid UTF-8 as a lone surrogate", () => {
    const latin1 = Buffer.from("Übel", "latin1");
    expect(decodeBytes(latin1)).toBe("\udcdcbel");
  });

  it.each([
    ["an overlong form", [0xc0, 0xaf]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["a sequence that is cut off", [0xe2, 0x82]],
  ])("escapes %s byte by byte", (_, bytes) => {
    const escaped = String.fromCharCode(...bytes.map((byte) => 0xdc00 + byte));
    expect(decodeBytes(Buffer.from(bytes))).toBe(escaped);
  });
});

describe("encodeText", () => {
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
});
