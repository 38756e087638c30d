import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cidrLines, setNames } from "../../../src/jobs/tags/firewalls.js";

const v6Net = 0x20010db8n << 96n;
const v4Net = 0xc0000200;

function blocksOf(v4: readonly number[], v6: readonly bigint[] = []): string[] {
  return [...cidrLines({ v4: Uint32Array.from(v4), v6 })].map((line) => line.trimEnd());
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, at) => from + at);
}

describe("blocks", () => {
  test.each<[string, number[], string[]]>([
    ["one address", [v4Net], ["192.0.2.0/32"]],
    ["a pair that is aligned", range(v4Net, 2), ["192.0.2.0/31"]],
    ["a pair that is not", range(v4Net + 1, 2), ["192.0.2.1/32", "192.0.2.2/32"]],
    ["a whole /24", range(v4Net, 256), ["192.0.2.0/24"]],
    ["both ends of the numbers", [0, 1, 2 ** 32 - 1], ["0.0.0.0/31", "255.255.255.255/32"]],
  ])("of %s", (_, addresses, blocks) => {
    expect(blocksOf(addresses)).toEqual(blocks);
  });

  const lowBits = fc
    .uniqueArray(fc.integer({ min: 0, max: 127 }), { maxLength: 128 })
    .map((bits) => bits.sort((a, b) => a - b));

  it("cover exactly the addresses, with the fewest possible, for both families", () => {
    fc.assert(
      fc.property(lowBits, (bits) => {
        const v4 = blocksOf(bits.map((bit) => v4Net + bit));
        const covered = v4.flatMap((block) => {
          const [address = "", prefix = ""] = block.split("/");
          return range(Number(address.split(".")[3]), 2 ** (32 - Number(prefix)));
        });
        expect(covered).toEqual(bits);
        expect(v4).toHaveLength(fewest(new Set(bits), 0, 128));
        const v6 = blocksOf(
          [],
          bits.map((bit) => v6Net + BigInt(bit)),
        );
        expect(v6).toHaveLength(v4.length);
      }),
    );
  });
});

/** A set within an aligned block needs one block if it fills it, otherwise what its halves need. */
function fewest(set: ReadonlySet<number>, from: number, size: number): number {
  const inside = range(from, size).filter((bit) => set.has(bit)).length;
  if (inside === 0) return 0;
  if (inside === size) return 1;
  return fewest(set, from, size / 2) + fewest(set, from + size / 2, size / 2);
}

describe("the name of a set", () => {
  it("is that of the tag's files", () => {
    expect(setNames("credentials:brute-force", "credentials--brute-force")).toEqual({
      ipv4: "credentials--brute-force_v4",
      ipv6: "credentials--brute-force_v6",
    });
  });

  test.each([
    ["too long for ipset", "phishing:credential-page-kit", "phishing--credential-page-kit"],
    ["that begins with a digit", "0day:x", "0day--x"],
    ["that is encoded", "a:b c", "a--b%20c"],
  ])("%s becomes one valid in both firewalls", (_, tag, stem) => {
    const { ipv4 } = setNames(tag, stem);
    expect(ipv4).toMatch(/^[A-Za-z][A-Za-z0-9._-]*-[0-9a-f]{8}_v4$/);
    expect(`${ipv4}_n`.length).toBeLessThanOrEqual(31);
  });
});
