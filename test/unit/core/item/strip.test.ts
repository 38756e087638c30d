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
  ])("takes away %s", (_, text, expected) => {
    expect(strip(text)).toBe(expected);
  });

  it("leaves what is inside alone", () => {
    expect(strip(`a "b", <c> d`)).toBe(`a "b", <c> d`);
  });

  it("keeps a leading comma, which is no separator behind a value", () => {
    expect(strip(",example.com")).toBe(",example.com");
  });

  it("leaves nothing of a cell that holds only quotes and spaces", () => {
    expect(strip(` "" `)).toBe("");
  });
});
