import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readIpv6 } from "../../../../src/core/item/ip.js";
import {
  type AddressList,
  addressText,
  addressTexts,
  readEntries,
} from "../../../../src/tags/address/address-list.js";

function v4Text(address: number): string {
  return addressText(Uint32Array.of(address), 0, 1);
}

/** The address as 32 bits; null if the text is not IPv4. */
function parseV4(text: string): number | null {
  const read = readEntries([text]);
  return typeof read === "number" ? null : (read.v4[0] ?? null);
}

function normalV6(text: string): string | null {
  const read = readEntries([text]);
  if (typeof read === "number" || read.v6.length === 0) return null;
  const list: AddressList = read;
  return [...addressTexts(list)].join();
}

describe("IPv4", () => {
  test("parses every address back from its text", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (address) => {
        expect(parseV4(v4Text(address))).toBe(address);
      }),
    );
  });

  test.each(["0.0.0.0", "255.255.255.255", "192.0.2.1", "10.20.100.199", "9.99.109.210"])(
    "%s is written as it was read",
    (text) => {
      expect(v4Text(parseV4(text) ?? -1)).toBe(text);
    },
  );

  test.each([
    "",
    "1.2.3",
    "1.2.3.",
    ".1.2.3.4",
    "1.2.3.4.5",
    "1..2.3",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3.04",
    "1.2.3.4 ",
    " 1.2.3.4",
    "1.2.3.x",
    "192.0.2.0/24",
    "192.0.2.1:80",
    "1.2.3.1000",
  ])("rejects %j", (text) => {
    expect(parseV4(text)).toBe(null);
  });
});

describe("IPv6", () => {
  // Many zeros, so that runs of them occur.
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  const groups = fc.array(group, { minLength: 8, maxLength: 8 });

  it("is formatted like the item of a lookup", () => {
    fc.assert(
      fc.property(groups, (groups) => {
        const text = groups.map((group) => group.toString(16)).join(":");
        expect(normalV6(text)).toBe(readIpv6(text));
      }),
    );
  });

  test.each([
    ["2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"],
    ["2001:0db8::0001", "2001:db8::1"],
    ["2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"],
    ["2001:0:0:1:0:0:0:1", "2001:0:0:1::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["::FFFF:c000:0201", "::ffff:192.0.2.1"],
    ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
  ])("%s is %s", (text, normal) => {
    expect(normalV6(text)).toBe(normal);
  });

  test.each([
    "",
    ":",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "2001:db8::/32",
    "[2001:db8::1]",
    "fe80::1%eth0",
    "::ffff:192.0.2.256",
    "::ffff:192.0.02.1",
    "g::",
    "192.0.2.1",
    "12345::",
  ])("rejects %j", (text) => {
    expect(normalV6(text)).toBe(null);
  });
});
