import { describe, expect, it } from "vitest";
import { readDomain, readEmail } from "../../../../src/core/item/hostname.js";

const read = (text: string) => readDomain(text, false);

describe("readDomain", () => {
  it.each([
    ["example.com", "example.com"],
    ["WWW.Example.COM", "www.example.com"],
    ["example.com.", "example.com"],
    ["example.com:8443", "example.com"],
    ["a.b.example.co.uk", "a.b.example.co.uk"],
    ["examplepages.github.io", "examplepages.github.io"],
    ["expyuzz4wqqyqhjn.onion", "expyuzz4wqqyqhjn.onion"],
    ["_dmarc.example.com", "_dmarc.example.com"],
    ["r1---sn-.example.com", "r1---sn-.example.com"],
    ["bücher.example.com", "xn--bcher-kva.example.com"],
    ["BÜCHER.example.com", "xn--bcher-kva.example.com"],
    ["xn--bcher-kva.example.com", "xn--bcher-kva.example.com"],
    ["例え.テスト.みんな", "xn--r8jz45g.xn--zckzah.xn--q9jyb4c"],
    ["example。com", "example.com"],
    ["192.0.2.1.example.com", "192.0.2.1.example.com"],
  ])("reads %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ["a file name", "setup.exe"],
    ["an unknown suffix", "printer.local"],
    ["a reserved top-level domain", "www.example"],
    ["a public suffix", "co.uk"],
    ["a top-level domain", "com"],
    ["a single label", "localhost"],
    ["an empty label", "example..com"],
    ["a leading dot", ".example.com"],
    ["an underscore in the registered name", "my_example.com"],
    ["a hyphen at the end of the registered name", "example-.com"],
    ["a label of 64 characters", `${"a".repeat(64)}.example.com`],
    ["a name of more than 253 characters", `${"a.".repeat(122)}example.com`],
    ["an A-label that decodes to nothing", "xn--a.example.com"],
    ["a space", "exam ple.com"],
    ["a percent escape", "ex%61mple.com"],
    ["a path", "example.com/a"],
    ["an IPv4 address", "192.0.2.1"],
    ["an IPv4 address in full-width digits", "１９２.０.２.１"],
    ["a port that is no number", "example.com:http"],
    ["a wildcard", "*.example.com"],
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

  it("does not trust a label over the public suffix list", () => {
    expect(readDomain("setup.exe", true)).toBeNull();
  });
});

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
