import { describe, expect, it } from "vitest";
import { readDomain, readEmail } from "../../../src/core/item/hostname.js";

const read = (text: string) => readDomain(text, false);

describe("readDomain", () => {
  it.each([
    ["example.com", "example.com"],
    ["WWW.Example.COM", "www.example.com"],
    ["example.com.", "example.com"],
    ["example.com:8443", "example.com"],
    ["examplepages.github.io", "examplepages.github.io"],
    ["expyuzz4wqqyqhjn.onion", "expyuzz4wqqyqhjn.onion"],
    ["r1---sn-.example.com", "r1---sn-.example.com"],
    ["bücher.example.com", "xn--bcher-kva.example.com"],
    ["xn--bcher-kva.example.com", "xn--bcher-kva.example.com"],
    ["example。com", "example.com"],
  ])("reads %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ["a file name", "setup.exe"],
    ["an unknown suffix", "printer.local"],
    ["a public suffix", "co.uk"],
    ["a single label", "localhost"],
    ["an empty label", "example..com"],
    ["an underscore in the registered name", "my_example.com"],
    ["a label of 64 characters", `${"a".repeat(64)}.example.com`],
    ["a name of more than 253 characters", `${"a.".repeat(122)}example.com`],
    ["an A-label that decodes to nothing", "xn--a.example.com"],
    ["a space", "exam ple.com"],
    ["a path", "example.com/a"],
    ["an IPv4 address", "192.0.2.1"],
    ["a port that is no number", "example.com:http"],
  ])("is null for %s", (_, text) => {
    expect(read(text)).toBeNull();
  });

  it.each(["install.sh", "archive.zip", "get.example.sh", "example.so", "example.pl"])(
    "reads %s as a domain although it could be a file",
    (text) => {
      expect(read(text)).toBe(text);
    },
  );

  it("removes a space next to a dot only if a label says that this is a domain", () => {
    expect(readDomain("example. com", true)).toBe("example.com");
    expect(readDomain("example. com", false)).toBeNull();
  });
});

describe("readEmail", () => {
  it.each([
    ["user@example.com", "user@example.com"],
    ["First.Last+Tag@EXAMPLE.Com", "First.Last+Tag@example.com"],
    ["user@bücher.example.com", "user@xn--bcher-kva.example.com"],
    ["üser@example.com", "üser@example.com"],
    ["mailto:User@example.com", "User@example.com"],
    ["mailto:'user@example.com'", "user@example.com"],
  ])("reads %s", (text, expected) => {
    expect(readEmail(text)).toBe(expected);
  });

  it.each([
    ["no local part", "@example.com"],
    ["a domain without a known suffix", "user@localhost"],
    ["an address literal", "user@[192.0.2.1]"],
    ["a space", "first last@example.com"],
    ["a quoted local part", `"first last"@example.com`],
    ["a port behind", "user@example.com:25"],
    ["an endless local part", `${"a".repeat(300)}@example.com`],
  ])("is null for %s", (_, text) => {
    expect(readEmail(text)).toBeNull();
  });
});
