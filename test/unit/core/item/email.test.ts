import { describe, expect, it } from "vitest";
import { readEmail } from "../../../../src/core/item/hostname.js";

describe("readEmail", () => {
  it.each([
    ["user@example.com", "user@example.com"],
    ["First.Last+Tag@EXAMPLE.Com", "First.Last+Tag@example.com"],
    ["user@bücher.example.com", "user@xn--bcher-kva.example.com"],
    ["üser@example.com", "üser@example.com"],
    ["o'brien@example.com", "o'brien@example.com"],
    ["bounce+123=user=example.org@example.com", "bounce+123=user=example.org@example.com"],
    ["user@example.zip", "user@example.zip"],
    ["mailto:User@example.com", "User@example.com"],
    ["MAILTO:user@example.com?subject=Hello", "user@example.com"],
    ["mailto:'user@example.com'", "user@example.com"],
  ])("reads %s", (text, expected) => {
    expect(readEmail(text)).toBe(expected);
  });

  it.each([
    ["no local part", "@example.com"],
    ["no domain", "user@"],
    ["a domain without a known suffix", "user@localhost"],
    ["an address literal", "user@[192.0.2.1]"],
    ["two @", "user@example.org@example.com"],
    ["a space", "first last@example.com"],
    ["a quoted local part", `"first last"@example.com`],
    ["a path in front", "/home/user@example.com"],
    ["a port behind", "user@example.com:25"],
    ["an endless local part", `${"a".repeat(300)}@example.com`],
  ])("is null for %s", (_, text) => {
    expect(readEmail(text)).toBeNull();
  });
});
