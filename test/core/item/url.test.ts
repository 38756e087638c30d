import { describe, expect, it } from "vitest";
import { isInternalHost, isNetwork, readUrl } from "../../../src/core/item/url.js";

const read = (text: string) => readUrl(text, false);

describe("readUrl", () => {
  it.each([
    ["http://example.com", "http://example.com/"],
    ["HTTPS://EXAMPLE.COM/A", "https://example.com/A"],
    ["https://example.com:443/a/../b?c=d#e", "https://example.com/b?c=d#e"],
    ["https:/example.com/a", "https://example.com/a"],
    ["http://[2001:DB8:0:0::1]/x", "http://[2001:db8::1]/x"],
    ["http://bücher.example.com/ä", "http://xn--bcher-kva.example.com/%C3%A4"],
    ["http://example.com/#[email]", "http://example.com/#[email]"],
  ])("reads %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it("drops user name and password, and keeps the fragment", () => {
    expect(read("https://login.example.com@example.net/#user@example.org")).toBe(
      "https://example.net/#user@example.org",
    );
    expect(read("ftp://user:p%40ss@example.net/a@b")).toBe("ftp://example.net/a@b");
  });

  it.each([
    ["example.com/a.php", "http://example.com/a.php"],
    ["example.com?a=b", "http://example.com/?a=b"],
    ["192.0.2.1/33", "http://192.0.2.1/33"],
    ["[2001:db8::1]:8080/a", "http://[2001:db8::1]:8080/a"],
    ["example.com/@user.name", "http://example.com/@user.name"],
  ])("assumes http:// for %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it.each([
    ["a bare domain", "example.com"],
    ["a network", "192.0.2.0/24"],
    ["a network and a domain", "192.0.2.0/24;example.com"],
    ["an unknown suffix with a path", "server.local/a"],
    ["a Windows path", "C:\\example.com\\a"],
    ["another scheme", "sftp://example.com/a"],
    ["a host that the WHATWG forbids", "http://exa mple.com/"],
    ["an A-label that decodes to nothing", "http://xn--a.example.com/"],
    ["an address with too large an octet", "http://192.0.2.256/"],
    ["an e-mail address with a resource", "user@example.com/a"],
  ])("is null for %s", (_, text) => {
    expect(read(text)).toBeNull();
  });

  it.each([
    ["example.com", "http://example.com/"],
    ["192.0.2.1:8080", "http://192.0.2.1:8080/"],
  ])("reads %s if a label says that it is a URL", (text, expected) => {
    expect(readUrl(text, true)).toBe(expected);
  });

  it("reaches a fixed point if parsing creates a defanged token", () => {
    expect(read("http://example.com/a[/./]b")).toBe("http://example.com/a/b");
    expect(read("http://example.com/a[\\]b")).toBe("http://example.com/a/b");
  });
});

describe("isNetwork", () => {
  it.each(["192.0.2.0/24", "192.0.2.0/255.255.255.0", "2001:db8::/32", "::/0"])(
    "is true for %s",
    (text) => {
      expect(isNetwork(text)).toBe(true);
    },
  );

  it.each(["192.0.2.0/33", "192.0.2.0/a", "192.0.2.0", "2001:db8::/129", "example.com/24"])(
    "is false for %s",
    (text) => {
      expect(isNetwork(text)).toBe(false);
    },
  );
});

describe("isInternalHost", () => {
  it.each([
    "10.1.2.3",
    "192.168.0.1",
    "127.0.0.1",
    "::1",
    "fd00::1",
    "::ffff:10.1.2.3",
    "intranet",
    "localhost",
    "nas.local",
    "com",
  ])("is true of %s", (host) => {
    expect(isInternalHost(host)).toBe(true);
  });

  it.each(["8.8.8.8", "2606:4700::1111", "example.com", "co.uk", "a.example"])(
    "is false of %s",
    (host) => {
      expect(isInternalHost(host)).toBe(false);
    },
  );
});
