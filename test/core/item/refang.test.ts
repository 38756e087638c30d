import { describe, expect, it } from "vitest";
import { refang, strip } from "../../../src/core/item/refang.js";

describe("refang", () => {
  it.each([
    ["hxxp://example.com", "http://example.com"],
    ["hXXpS://example.com", "https://example.com"],
    ["192.0.2[.]1", "192.0.2.1"],
    ["example{.}com", "example.com"],
    ["example[dot]com", "example.com"],
    ["hxxp[:]//example[.]com", "http://example.com"],
    ["hxxps[://]example[.]com[/]a", "https://example.com/a"],
    ["user[@]example[.]com", "user@example.com"],
    ["user(at)example.com", "user@example.com"],
    ["2001[:]db8[:][:]1", "2001:db8::1"],
  ])("undoes %s", (text, expected) => {
    expect(refang(text)).toBe(expected);
  });

  it("removes the white space around a token", () => {
    expect(refang("user [at] example [dot] com")).toBe("user@example.com");
    expect(refang("example[.] com")).toBe("example.com");
  });

  it("undoes nested tokens from the inside out", () => {
    expect(refang("example[[.]]com")).toBe("example.com");
    expect(refang("example[(dot)]com")).toBe("example.com");
  });

  it.each([
    "https://example.com/#[email]",
    "example[.)com",
    "example(:)com",
    "https://example.com/?next=hxxps://example.net/",
  ])("leaves %s alone", (text) => {
    expect(refang(text)).toBe(text);
  });

  it("takes time linear in the number of brackets", () => {
    const brackets = "[".repeat(30_000) + "." + "]".repeat(30_000);
    expect(refang(brackets)).toBe(".");
  });
});

describe("strip", () => {
  it.each([
    ["spaces and line ends", " \t192.0.2.1\r\n", "192.0.2.1"],
    ["zero-width and directional marks", "\ufeff\u200bexample.com\u200e", "example.com"],
    ["straight quotes", `"example.com"`, "example.com"],
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
});
