import fc from "fast-check";
import { expect, it, test } from "vitest";
import {
  type AddressList,
  addressTexts,
  difference,
  readEntries,
  sortedList,
} from "../../../src/jobs/tags/address-list.js";
import { setNames, tagFormatWriters } from "../../../src/jobs/tags/formats.js";
import { tagExportOptions } from "../../../src/jobs/tags/options.js";

const metadata = { tag: "spam:bulk", sets: { ipv4: "spam--bulk_v4", ipv6: "spam--bulk_v6" } };

const v6 = [(0x20010db8n << 96n) | 1n];
const both: AddressList = { v4: Uint32Array.of(0xc0000201), v6 };

function written(format: keyof typeof tagFormatWriters, list: AddressList, of = metadata): string {
  return [...tagFormatWriters[format](list, of)].join("");
}

test.each([
  ["txt", "192.0.2.1\n2001:db8::1\n"],
  ["csv", "ip,family,tag\n192.0.2.1,4,spam:bulk\n2001:db8::1,6,spam:bulk\n"],
  [
    "ndjson",
    `{"ip":"192.0.2.1","family":4,"tag":"spam:bulk"}
{"ip":"2001:db8::1","family":6,"tag":"spam:bulk"}
`,
  ],
  [
    "nft",
    `#!/usr/sbin/nft -f
add table inet repute
add set inet repute spam--bulk_v4 { type ipv4_addr; }
add set inet repute spam--bulk_v6 { type ipv6_addr; }
flush set inet repute spam--bulk_v4
flush set inet repute spam--bulk_v6
add element inet repute spam--bulk_v4 {
	192.0.2.1,
}
add element inet repute spam--bulk_v6 {
	2001:db8::1,
}
`,
  ],
  [
    "ipset",
    `create spam--bulk_v4 hash:ip family inet hashsize 1024 maxelem 4294967295 -exist
create spam--bulk_v4_n hash:ip family inet hashsize 1024 maxelem 4294967295 -exist
flush spam--bulk_v4_n
add spam--bulk_v4_n 192.0.2.1
swap spam--bulk_v4_n spam--bulk_v4
destroy spam--bulk_v4_n
create spam--bulk_v6 hash:ip family inet6 hashsize 1024 maxelem 4294967295 -exist
create spam--bulk_v6_n hash:ip family inet6 hashsize 1024 maxelem 4294967295 -exist
flush spam--bulk_v6_n
add spam--bulk_v6_n 2001:db8::1
swap spam--bulk_v6_n spam--bulk_v6
destroy spam--bulk_v6_n
`,
  ],
] as const)("%s has every address, by family", (format, text) => {
  expect(written(format, both)).toBe(text);
});

test("csv quotes text from the service, and guards it against formulas", () => {
  const evil = { ...metadata, tag: `=cmd|' /C calc'!A0,"b"\n` };
  const text = written("csv", both, evil);
  expect(text).toContain(`192.0.2.1,4,"'=cmd|' /C calc'!A0,""b""\n"`);
});

test("nft empties the sets of an empty list and adds nothing", () => {
  const text = written("nft", { v4: new Uint32Array(), v6: [] });
  expect(text).toContain("flush set inet repute spam--bulk_v4\n");
  expect(text).not.toContain("add element");
});

test.each(["nft", "ipset"] as const)("%s has no text from the service", (format) => {
  const evil = { ...metadata, tag: 'x"\nflush ruleset\r\n' };
  expect(written(format, both, evil)).toBe(written(format, both));
});

const v6Net = 0x20010db8n << 96n;
const v4Net = 0xc0000200;

function blocksOf(v4: readonly number[], v6: readonly bigint[] = []): string[] {
  return written("cidr", { v4: Uint32Array.from(v4), v6 })
    .split("\n")
    .slice(0, -1);
}

function range(from: number, length: number): number[] {
  return Array.from({ length }, (_, at) => from + at);
}

test.each<[string, number[], string[]]>([
  ["one address", [v4Net], ["192.0.2.0/32"]],
  ["a pair that is aligned", range(v4Net, 2), ["192.0.2.0/31"]],
  ["a pair that is not", range(v4Net + 1, 2), ["192.0.2.1/32", "192.0.2.2/32"]],
  ["a whole /24", range(v4Net, 256), ["192.0.2.0/24"]],
  ["both ends of the numbers", [0, 1, 2 ** 32 - 1], ["0.0.0.0/31", "255.255.255.255/32"]],
])("blocks of %s", (_, addresses, blocks) => {
  expect(blocksOf(addresses)).toEqual(blocks);
});

test("blocks cover exactly the addresses, with the fewest possible, for both families", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(127), { maxLength: 128 }), (drawn) => {
      const bits = drawn.sort((a, b) => a - b);
      const v4 = blocksOf(bits.map((bit) => v4Net + bit));
      const covered = v4.flatMap((block) => {
        const [address = "", prefix = ""] = block.split("/");
        return range(Number(address.split(".")[3]), 2 ** (32 - Number(prefix)));
      });
      expect(covered).toEqual(bits);
      expect(v4).toHaveLength(fewest(new Set(bits), 0, 128));
      const wide = bits.map((bit) => v6Net + BigInt(bit));
      expect(blocksOf([], wide)).toHaveLength(v4.length);
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

const shortened = /^[A-Za-z][A-Za-z0-9._-]*-[0-9a-f]{8}_v4$/;

test.each([
  ["that of its files", "spam:bulk", "spam--bulk", /^spam--bulk_v4$/],
  ["long for ipset", "phishing:credential-page-kit", "phishing--credential-page-kit", shortened],
  ["one that begins with a digit", "0day:x", "0day--x", shortened],
  ["one that is encoded", "a:b c", "a--b%20c", shortened],
])("the name of a tag's set is valid in both firewalls: %s", (_, tag, stem, name) => {
  const { ipv4, ipv6 } = setNames(tag, stem);
  expect(ipv4).toMatch(name);
  expect(ipv6).toBe(ipv4.replace(/4$/, "6"));
  expect(`${ipv4}_n`.length).toBeLessThanOrEqual(31);
});

test("formats are comma-separated and deduplicated, and unknown ones refused with the known", () => {
  expect(tagExportOptions.parse({ formats: "nft, txt,nft" }).formats).toEqual(["nft", "txt"]);
  const parsed = tagExportOptions.safeParse({ formats: "txt,pdf" });
  expect(parsed.error?.issues[0]?.message).toBe(
    'must not contain the unknown format "pdf"; known are txt, csv, ndjson, cidr, nft, ipset',
  );
});

function listOf(entries: readonly string[]): AddressList {
  const read = readEntries(entries);
  if (typeof read === "number") throw new Error(`entry ${read} is no address`);
  return sortedList([read]);
}

function textOf(list: AddressList): string[] {
  return addressTexts(list).flatMap(([, texts]) => Array.from(texts));
}

test.each([
  ["255.255.255.255", "255.255.255.255"],
  ["2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"],
  ["0:0:0:0:0:0:0:0", "::"],
  ["1::", "1::"],
  ["::192.0.2.1", "::c000:201"],
  ["::FFFF:c000:0201", "::ffff:192.0.2.1"],
  ["64:ff9b::192.0.2.33", "64:ff9b::c000:221"],
])("%s is %s", (text, normal) => {
  expect(textOf(listOf([text]))).toEqual([normal]);
});

test.each(["", "01.2.3.4", " 1.2.3.4", "192.0.2.0/24", "[2001:db8::1]", "fe80::1%eth0"])(
  "%j is invalid at its position",
  (text) => {
    expect(readEntries(["192.0.2.1", "2001:db8::1", text, "x"])).toBe(2);
  },
);

it("difference is what one list has and the other lacks", () => {
  const list = listOf(["192.0.2.1", "192.0.2.2", "::1", "::2"]);
  const other = listOf(["192.0.2.2", "192.0.2.3", "::2", "::3"]);
  expect(textOf(difference(list, other))).toEqual(["192.0.2.1", "::1"]);
  // An IPv6 address may have the number of an IPv4 address.
  expect(textOf(difference(listOf(["0.0.0.1"]), listOf(["::1"])))).toEqual(["0.0.0.1"]);
});
