import { describe, expect, it } from "vitest";
import { didYouMean, nearestFirst } from "../../../../src/core/text/did-you-mean.js";

describe("didYouMean", () => {
  it.each([
    ["a missing letter", "indcator", "indicator"],
    ["a letter too many", "indicattor", "indicator"],
    ["a wrong letter", "indicatur", "indicator"],
    ["two letters swapped", "idnicator", "indicator"],
    ["other letter case", "INDICATOR", "indicator"],
    ["spaces around", " indicator ", "indicator"],
  ])("finds the name despite %s", (_, word, meant) => {
    expect(didYouMean(word, ["note", "indicator", "data"])).toBe(meant);
  });

  it("prefers the nearest candidate", () => {
    expect(didYouMean("indicatr", ["indicators", "indicator"])).toBe("indicator");
  });

  it("prefers the shortest candidate that begins with the word", () => {
    expect(didYouMean("rat", ["raw", "rate-limit", "rate"])).toBe("rate");
  });

  it("finds the name with a letter in the wrong place", () => {
    expect(didYouMean("chace", ["shape", "cache"])).toBe("cache");
  });

  it("prefers the first of equally near candidates", () => {
    expect(didYouMean("item_a", ["item_b", "item_c"])).toBe("item_b");
  });

  it("returns the candidate as written, including spaces", () => {
    expect(didYouMean("dta", [" Data "])).toBe(" Data ");
  });

  it("returns null if nothing is near", () => {
    expect(didYouMean("hostname", ["note", "indicator", "data"])).toBeNull();
  });

  it("does not confuse single letters", () => {
    expect(didYouMean("a", ["b", "c"])).toBeNull();
  });

  it("returns null without candidates", () => {
    expect(didYouMean("item", [])).toBeNull();
  });

  it("ignores empty candidates", () => {
    expect(didYouMean("a", ["", " "])).toBeNull();
  });
});

describe("nearestFirst", () => {
  it("sorts by edit distance, and keeps the order of equals", () => {
    expect(nearestFirst("mail", ["name", "fax", "email", "Mail"])).toEqual([
      "Mail",
      "email",
      "name",
      "fax",
    ]);
  });
});
