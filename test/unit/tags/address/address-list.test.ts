import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readIpv6 } from "../../../../src/core/item/ip.js";
import {
  type AddressList,
  addressText,
  addressTexts,
  difference,
  isAscending,
  readEntries,
  sortAddresses,
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

function listOf(entries: readonly string[]): AddressList {
  const read = readEntries(entries);
  if (typeof read === "number") throw new Error(`entry ${read} is no address`);
  return sortAddresses(read.v4, read.v6);
}

function textOf(list: AddressList): string[] {
  return [...addressTexts(list)];
}

/** Words with common prefixes, so that every word of an address counts. */
const word = fc.oneof(
  fc.constantFrom(0, 1, 0x20010db8, 0xffffffff),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);
const v6Words = fc
  .array(fc.tuple(word, word, word, word), { maxLength: 400 })
  .map((addresses) => Uint32Array.from(addresses.flat()));

function numbersOf(words: Uint32Array): bigint[] {
  return Array.from({ length: words.length / 4 }, (_, at) =>
    words.subarray(at * 4, at * 4 + 4).reduce((number, word) => (number << 32n) | BigInt(word), 0n),
  );
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

/** The IPv6 addresses as numbers, after sorting. */
function sortedV6(words: Uint32Array): bigint[] {
  return numbersOf(sortAddresses(new Uint32Array(0), words.slice()).v6);
}

describe("sortAddresses", () => {
  it("sorts IPv6 numerically", () => {
    fc.assert(
      fc.property(v6Words, (words) => {
        const expected = [...new Set(numbersOf(words))].sort(ascending);
        expect(sortedV6(words)).toEqual(expected);
      }),
    );
  });

  it("sorts many addresses of one network", () => {
    const words = Uint32Array.from({ length: 4 * 5000 }, (_, at) =>
      at % 4 === 0 ? 0x20010db8 : at % 4 === 3 ? Math.imul(at, 0x9e3779b1) : 0,
    );
    expect(sortedV6(words)).toEqual(numbersOf(words).sort(ascending));
  });

  it("puts IPv4 before IPv6, each sorted and distinct", () => {
    const list = listOf([
      "2001:db8::10",
      "192.0.2.10",
      "2001:DB8:0::10",
      "192.0.2.9",
      "192.0.2.10",
    ]);
    expect(textOf(list)).toEqual(["192.0.2.9", "192.0.2.10", "2001:db8::10"]);
    const mapped = listOf(["::ffff:192.0.2.1", "192.0.2.1"]);
    expect(textOf(mapped)).toEqual(["192.0.2.1", "::ffff:192.0.2.1"]);
  });

  it("makes ascending lists", () => {
    fc.assert(
      fc.property(fc.uint32Array({ maxLength: 50 }), v6Words, (v4, v6) => {
        expect(isAscending(sortAddresses(v4, v6))).toBe(true);
      }),
    );
  });
});

describe("difference", () => {
  // Few values, so that lists overlap.
  const few = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 40 });
  const lists = fc
    .tuple(few, few)
    .map(([v4, v6]) =>
      sortAddresses(Uint32Array.from(v4), Uint32Array.from(v6.flatMap((last) => [1, 0, 0, last]))),
    );

  it("is what one list has and the other lacks", () => {
    fc.assert(
      fc.property(lists, lists, (list, other) => {
        const others = new Set(textOf(other));
        const expected = textOf(list).filter((address) => !others.has(address));
        expect(textOf(difference(list, other))).toEqual(expected);
      }),
    );
  });
});

describe("readEntries", () => {
  test("reports the position of the first invalid entry", () => {
    expect(readEntries(["192.0.2.1", "2001:db8::1", "example.com", "x"])).toBe(2);
  });
});
