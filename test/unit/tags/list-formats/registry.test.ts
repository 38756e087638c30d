import fc from "fast-check";
import { expect, test } from "vitest";
import { sortAddresses } from "../../../../src/tags/address/address-list.js";
import { writeCidr } from "../../../../src/tags/list-formats/registry.js";

type Words = readonly [number, number, number, number];

function blocksOf(v4: readonly number[], v6: readonly Words[] = []): string[] {
  const list = sortAddresses(Uint32Array.from(v4), Uint32Array.from(v6.flat()));
  const pieces = [...writeCidr(list)].map((piece) => Buffer.from(piece).toString());
  return pieces.join("").split("\n").slice(0, -1);
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, at) => from + at);
}

const net = 0xc0000200;

test.each<[string, number[], string[]]>([
  ["one address", [net], ["192.0.2.0/32"]],
  ["a pair that is aligned", range(net, 2), ["192.0.2.0/31"]],
  ["a pair that is not", range(net + 1, 2), ["192.0.2.1/32", "192.0.2.2/32"]],
  ["a whole /24", range(net, 256), ["192.0.2.0/24"]],
  [
    "a /24 without its ends",
    range(net + 1, 6),
    ["192.0.2.1/32", "192.0.2.2/31", "192.0.2.4/31", "192.0.2.6/32"],
  ],
  ["both ends of the numbers", [0, 1, 2 ** 32 - 1], ["0.0.0.0/31", "255.255.255.255/32"]],
])("%s", (_, addresses, blocks) => {
  expect(blocksOf(addresses)).toEqual(blocks);
});

test("IPv6 addresses join across a word boundary", () => {
  const blocks = blocksOf(
    [],
    [
      [0x20010db8, 0, 0, 0xfffffffe],
      [0x20010db8, 0, 0, 0xffffffff],
      [0x20010db8, 0, 1, 0],
      [0x20010db8, 0, 1, 1],
    ],
  );
  expect(blocks).toEqual(["2001:db8::ffff:fffe/127", "2001:db8::1:0:0/127"]);
});

test("the last IPv6 address is not followed by the first", () => {
  const all = 0xffffffff;
  expect(
    blocksOf(
      [],
      [
        [0, 0, 0, 0],
        [all, all, all, all],
      ],
    ),
  ).toEqual(["::/128", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"]);
});

const lowBits = fc.uniqueArray(fc.integer({ min: 0, max: 127 }), { maxLength: 128 });

test("the blocks cover exactly the addresses", () => {
  fc.assert(
    fc.property(lowBits, (bits) => {
      const held = blocksOf(bits.map((bit) => net + bit)).flatMap((block) => {
        const [address = "", prefix = ""] = block.split("/");
        return range(net + Number(address.split(".")[3]), 2 ** (32 - Number(prefix)));
      });
      expect(held).toEqual(bits.map((bit) => net + bit).sort((a, b) => a - b));
    }),
  );
});

test("no smaller number of blocks would suffice, for IPv4 and IPv6 alike", () => {
  fc.assert(
    fc.property(lowBits, (bits) => {
      const set = new Set(bits);
      expect(blocksOf(bits.map((bit) => net + bit))).toHaveLength(fewest(set, 0, 128));
      const v6 = bits.map((bit): Words => [0x20010db8, 0, 0, bit]);
      expect(blocksOf([], v6)).toHaveLength(fewest(set, 0, 128));
    }),
  );
});

/** A set within an aligned block needs one block if it fills it, otherwise what its halves need. */
function fewest(set: ReadonlySet<number>, from: number, size: number): number {
  const inside = range(from, size).filter((bit) => set.has(bit)).length;
  if (inside === 0) return 0;
  if (inside === size) return 1;
  return fewest(set, from, size / 2) + fewest(set, from + size / 2, size / 2);
}
