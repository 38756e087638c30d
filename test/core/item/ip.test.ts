import { describe, expect, it } from "vitest";
import { readIp, isBogon } from "../../../src/core/item/ip.js";

describe("readIp", () => {
  it.each(["0.0.0.0", "192.0.2.1", "198.51.100.255", "255.255.255.255"])("reads %s", (address) => {
    expect(readIp(address)).toBe(address);
  });

  it.each([
    ["192.0.2.1:8080", "192.0.2.1"],
    ["192.0.2.1: 443", "192.0.2.1"],
    ["[2001:db8::1]:443", "2001:db8::1"],
  ])("drops the port of %s", (text, expected) => {
    expect(readIp(text)).toBe(expected);
  });

  // RFC 5952, section 4: no leading zeros; "::" for the longest run of zeros, the first of equal runs,
  // never for a single zero; lower case.
  it.each([
    ["2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:db8::192.0.2.33", "2001:db8::c000:221"],
  ])("writes %s as in RFC 5952", (text, expected) => {
    expect(readIp(text)).toBe(expected);
  });

  it.each([
    "::ffff:192.0.2.1",
    "::FFFF:C000:0201",
    "::ffff:c000:201",
    "0:0:0:0:0:ffff:192.0.2.1",
    "0000:0000:0000:0000:0000:FFFF:C000:0201",
    "[::ffff:192.0.2.1]:443",
    "[192.0.2.1]:443",
  ])("reads %s as the IPv4 address that it is", (text) => {
    expect(readIp(text)).toBe("192.0.2.1");
  });

  it.each(["::192.0.2.1", "::ffff:0:192.0.2.1", "64:ff9b::192.0.2.1", "2002:c000:201::1"])(
    "does not take %s for one",
    (text) => {
      expect(readIp(text)).toContain(":");
    },
  );

  it.each([
    ["leading zeros", "192.0.02.1"],
    ["an octet above 255", "192.0.2.256"],
    ["a prefix length", "192.0.2.0/24"],
    ["a port of six digits", "192.0.2.1:123456"],
    ["one number", "3221225985"],
    ["a zone", "fe80::1%eth0"],
    ["two double colons", "2001::db8::1"],
    ["brackets around IPv4", "[192.0.2.1]"],
    ["an open bracket", "[2001:db8::1"],
    ["nothing", ""],
  ])("is null for %s", (_, text) => {
    expect(readIp(text)).toBeNull();
  });
});

describe("isBogon", () => {
  it.each([
    "10.0.0.1",
    "100.64.0.1",
    "169.254.0.1",
    "172.16.0.1",
    "192.0.2.1",
    "192.168.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:198.51.100.1",
    "64:ff9b::a00:1",
    "2002:a00:1::1",
    "2001:db8::1",
    "4000::1",
    "fc00::1",
    "fe80::1",
    "ff02::1",
  ])("is true for %s", (address) => {
    expect(isBogon(address)).toBe(true);
  });

  it.each([
    "11.0.0.0",
    "100.128.0.0",
    "172.32.0.0",
    "192.0.0.9",
    "192.175.48.1",
    "64:ff9b::102:304",
    "2001:1::1",
    "2001:4860::1",
    "2002:102:304::1",
  ])("is false for %s", (address) => {
    expect(isBogon(address)).toBe(false);
  });
});
