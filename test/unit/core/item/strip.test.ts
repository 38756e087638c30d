import { describe, expect, it } from "vitest";
import { strip } from "../../../../src/core/item/refang.js";

describe("strip", () => {
  it.each([
    ["spaces and line ends", " \t192.0.2.1\r\n", "192.0.2.1"],
    ["no-break and narrow spaces", "\u00a0192.0.2.1\u202f\u00a0", "192.0.2.1"],
    ["zero-width and directional marks", "\ufeff\u200bexample.com\u200e", "example.com"],
    ["straight quotes", `"example.com"`, "example.com"],
    ["typographic quotes", "“example.com”", "example.com"],
    ["angle brackets", "<https://example.com/>", "https://example.com/"],
    ["trailing commas", "example.com,,", "example.com"],
    ["all of these in any order", ` "<example.com>", `, "example.com"],
  ])("removes %s", (_, text, expected) => {
    expect(strip(text)).toBe(expected);
  });

  it("leaves the inside alone", () => {
    expect(strip(`a "b", <c> d`)).toBe(`a "b", <c> d`);
  });

  it("keeps a leading comma, which does not separate values", () => {
    expect(strip(",example.com")).toBe(",example.com");
  });

  it("returns an empty text for a cell of quotes and spaces only", () => {
    expect(strip(` "" `)).toBe("");
  });
});
