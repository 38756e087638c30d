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

  it.each<[string, string, string[], string | null]>([
    ["prefers the nearest candidate", "indicatr", ["indicators", "indicator"], "indicator"],
    [
      "prefers the shortest that begins with the word",
      "rat",
      ["raw", "rate-limit", "rate"],
      "rate",
    ],
    ["finds a letter in the wrong place", "chace", ["shape", "cache"], "cache"],
    ["prefers the first of equally near ones", "item_a", ["item_b", "item_c"], "item_b"],
    ["returns the candidate as written, including spaces", "dta", [" Data "], " Data "],
    ["returns null if nothing is near", "hostname", ["note", "indicator", "data"], null],
    ["does not confuse single letters", "a", ["b", "c"], null],
    ["returns null without candidates", "item", [], null],
    ["ignores empty candidates", "a", ["", " "], null],
  ])("%s", (_, word, candidates, meant) => {
    expect(didYouMean(word, candidates)).toBe(meant);
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
