import { describe, expect, it } from "vitest";
import { didYouMean } from "../../../src/core/wording/did-you-mean.js";

describe("didYouMean", () => {
  it.each([
    ["a missing letter", "indcator", "indicator"],
    ["two letters swapped", "idnicator", "indicator"],
    ["other letter case", "INDICATOR", "indicator"],
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
    ["returns the candidate as written, including spaces", "dta", [" Data "], " Data "],
    ["returns null if nothing is near", "hostname", ["note", "indicator", "data"], null],
    ["does not confuse single letters", "a", ["b", "c"], null],
  ])("%s", (_, word, candidates, meant) => {
    expect(didYouMean(word, candidates)).toBe(meant);
  });
});
