import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type AddressList,
  difference,
  isAscending,
  sortAddresses,
  readEntries,
} from "../../../../src/tags/address/address-list.js";
import { writeText } from "../../../../src/tags/list-formats/address-lines.js";

function listOf(entries: readonly string[]): AddressList {
  const read = readEntries(entries);
  if (typeof read === "number") throw new Error(`entry ${read} is no address`);
  return sortAddresses(read.v4, read.v6);
}

function textOf(list: AddressList): string[] {
  const pieces = [...writeText(list)].map((piece) => Buffer.from(piece).toString());
  return pieces.join("").split("\n").slice(0, -1);
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
    const list = listOf(["2001:db8::10", "192.0.2.10", "2001:db8::9", "192.0.2.9", "192.0.2.10"]);
    expect(textOf(list)).toEqual(["192.0.2.9", "192.0.2.10", "2001:db8::9", "2001:db8::10"]);
  });

  it("treats spellings of one address as equal", () => {
    expect(textOf(listOf(["2001:DB8::1", "2001:db8:0::1"]))).toEqual(["2001:db8::1"]);
  });

  it("keeps an IPv4-mapped address apart from the IPv4 one", () => {
    const list = listOf(["::ffff:192.0.2.1", "192.0.2.1"]);
    expect(textOf(list)).toEqual(["192.0.2.1", "::ffff:192.0.2.1"]);
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
