import { expect, test } from "vitest";
import { type AddressList, noAddresses } from "../../../src/jobs/tags/address-list.js";
import { tagFormatWriters } from "../../../src/jobs/tags/write-tag.js";
import type { TagFormat } from "../../../src/jobs/tags/options.js";
import type { ListMetadata } from "../../../src/jobs/tags/types.js";

const metadata: ListMetadata = {
  tag: "spam:bulk",
  sets: { ipv4: "spam--bulk_v4", ipv6: "spam--bulk_v6" },
};

const v6 = [(0x20010db8n << 96n) | 1n];
const both: AddressList = { v4: Uint32Array.of(0xc0000201), v6 };

function written(format: TagFormat, list: AddressList, of = metadata): string {
  const pieces: Buffer[] = [];
  for (const piece of tagFormatWriters[format](list, of)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

test("txt has one address per line", () => {
  expect(written("txt", both)).toBe("192.0.2.1\n2001:db8::1\n");
});

test("csv has family and tag with each address", () => {
  expect(written("csv", both)).toBe(
    ["ip,family,tag", "192.0.2.1,4,spam:bulk", "2001:db8::1,6,spam:bulk", ""].join("\n"),
  );
});

test("csv quotes text from the service, and guards it against formulas", () => {
  const evil = { ...metadata, tag: `=cmd|' /C calc'!A0,"b"\n` };
  const text = written("csv", both, evil);
  expect(text).toContain(`192.0.2.1,4,"'=cmd|' /C calc'!A0,""b""\n"`);
});

test("ndjson has the members of the csv form", () => {
  const lines = written("ndjson", both).trimEnd().split("\n");
  const tag = "spam:bulk";
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { ip: "192.0.2.1", family: 4, tag },
    { ip: "2001:db8::1", family: 6, tag },
  ]);
});

test("nft refills two sets of one table", () => {
  expect(written("nft", both)).toBe(
    `#!/usr/sbin/nft -f
# tag "spam:bulk": 1 IPv4 and 1 IPv6 addresses
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
  );
});

test("nft empties the sets of an empty list and adds nothing", () => {
  const text = written("nft", noAddresses);
  expect(text).toContain("flush set inet repute spam--bulk_v4\n");
  expect(text).not.toContain("add element");
});

test("ipset fills a set beside the one in use and swaps them", () => {
  expect(written("ipset", both)).toBe(
    `# tag "spam:bulk": 1 IPv4 and 1 IPv6 addresses
create spam--bulk_v4 hash:ip family inet hashsize 1024 maxelem 4294967295 -exist
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
  );
});

test.each(["nft", "ipset"] as const)(
  "%s keeps text from the service within its comment",
  async (format) => {
    const evil = 'x"\nflush ruleset\r\n\u2028\\';
    const text = written(format, both, { ...metadata, tag: evil + "y".repeat(5000) });
    const lines = text.split(/[\r\n\u2028]/);
    expect(lines.filter((line) => line.includes("flush ruleset"))).toEqual(
      lines.filter((line) => line.startsWith("# ") && line.includes("flush ruleset")),
    );
    // ipset splits longer lines, and the second half would be a command.
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(1000);
  },
);

test("a list of many pieces is written completely", () => {
  const lines = written("txt", { v4: range(100_000), v6 }).split("\n");
  expect([lines.length, lines[0], lines[99_999]]).toEqual([
    100_002,
    "198.18.0.0",
    "198.19.134.159",
  ]);
});

function range(length: number): Uint32Array {
  return Uint32Array.from({ length }, (_, at) => 0xc6120000 + at);
}
