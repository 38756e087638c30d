import { describe, expect, it } from "vitest";
import { closestName } from "../../../src/webhooks/closest-name.js";

const names = ["name", "endpoint", "method", "path", "payload"];

describe("closestName", () => {
  it.each([
    ["Name", "name"],
    ["end_point", "endpoint"],
    ["mehtod", "method"],
    ["payloads", "payload"],
    ["pth", "path"],
  ])("finds the name meant by %s", (word, meant) => {
    expect(closestName(word, names)).toBe(meant);
  });

  it.each(["", "headers", "x", "z".repeat(100_000)])("finds nothing for %.20s", (word) => {
    expect(closestName(word, names)).toBeNull();
  });

  it("prefers the shortest name that ends in the word", () => {
    expect(closestName("Email", ["s.old.Email", "s.Email", "s.Email2"])).toBe("s.Email");
  });
});
