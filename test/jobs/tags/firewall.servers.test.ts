import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, test } from "vitest";
import { exportedTag, exporterOf, linesOf, readExport } from "./exporting.js";
import { addresses, served } from "./tag-server.js";

const execute = promisify(execFile);

/** As many as in a large daily feed: most of 198.18.0.0/15 (RFC 2544), and IPv6 (RFC 3849). */
const size = 120_430;
const onePercent = 1_204;
const v6 = Array.from({ length: 5_000 }, (_, at) => `2001:db8::${(at * 3).toString(16)}`);

/** Exports one tag in the formats of firewalls. */
async function exported(tag: string, entries: readonly string[]) {
  const { server, folder, run } = await exporterOf({ [tag]: served(entries) });
  const again = () => run({ formats: ["txt", "cidr", "nft", "ipset"] });
  await again();
  return { server, folder, again };
}

/** Runs a command line in its own network namespace, isolated from the machine's firewall. */
async function inOwnNetwork(script: string, ...paths: readonly string[]): Promise<string> {
  const args = ["--net", "sh", "-euc", script, "sh", ...paths];
  const { stdout } = await execute("unshare", args, { maxBuffer: 256 * 1024 * 1024 });
  return stdout;
}

/** The addresses in an nftables set. */
async function nftSet(set: string, ...files: readonly string[]): Promise<string[]> {
  const loads = files.map((_, at) => `nft -c -f "$${at + 1}"; nft -f "$${at + 1}"`).join("; ");
  const text = await inOwnNetwork(`${loads}; nft -j list set inet repute ${set}`, ...files);
  const answer = JSON.parse(text) as { nftables: { set?: { elem?: string[] } }[] };
  return answer.nftables.flatMap((entry) => entry.set?.elem ?? []);
}

/** The addresses in an ipset. */
async function ipSet(set: string, ...files: readonly string[]): Promise<string[]> {
  const loads = files.map((_, at) => `ipset restore < "$${at + 1}"`).join("; ");
  const text = await inOwnNetwork(`${loads}; ipset save ${set}`, ...files);
  return text
    .split("\n")
    .filter((line) => line.startsWith("add "))
    .map((line) => line.split(" ")[2] ?? "");
}

function sorted(entries: Iterable<string>): string[] {
  return [...entries].sort();
}

describe("a list of 120,430 IPv4 and 5,000 IPv6 addresses", () => {
  const v4 = addresses(size);

  it("is aggregated to CIDR blocks, and loaded twice by both firewalls, without a difference", async () => {
    const { folder } = await exported("feed:daily", [...v4, ...v6]);
    const blocks = await linesOf(folder, "feed--daily.cidr");
    expect(blocks.length).toBeLessThan(size / 2);
    expect(sorted(blocks.filter((block) => !block.includes(":")).flatMap(expandV4))).toEqual(
      sorted(v4),
    );
    const [nft, ipset] = ["nft", "ipset"].map((format) => join(folder, `feed--daily.${format}`));
    expect(sorted(await nftSet("feed--daily_v4", nft!, nft!))).toEqual(sorted(v4));
    expect(sorted(await nftSet("feed--daily_v6", nft!))).toEqual(sorted(normal(v6)));
    expect(sorted(await ipSet("feed--daily_v4", ipset!, ipset!))).toEqual(sorted(v4));
    expect(sorted(await ipSet("feed--daily_v6", ipset!))).toEqual(sorted(normal(v6)));
  });

  it("is replaced in both by a second snapshot with 1% changed", async () => {
    const { server, folder, again } = await exported("feed:daily", v4);
    const before = join(folder, (await readExport(folder)).generation);
    const changed = addresses(size, onePercent);
    server.lists["feed:daily"] = served(changed, "b");
    const report = await again();
    expect(report.tags[0]).toMatchObject({ total: size, added: onePercent, removed: onePercent });
    expect(sorted(await linesOf(folder, "feed--daily.removed.txt"))).toEqual(
      sorted(v4.slice(0, onePercent)),
    );
    expect(sorted(await linesOf(folder, "feed--daily.added.txt"))).toEqual(
      sorted(changed.slice(-onePercent)),
    );
    const [nft, ipset] = ["nft", "ipset"].map((format) =>
      [before, folder].map((from) => join(from, `feed--daily.${format}`)),
    );
    expect(sorted(await nftSet("feed--daily_v4", ...nft!))).toEqual(sorted(changed));
    expect(sorted(await ipSet("feed--daily_v4", ...ipset!))).toEqual(sorted(changed));
  });
});

test.each([
  "0day:x",
  "a:flush ruleset",
  'quote:"; } #',
  `long:${"x".repeat(60)}`,
  "ip:set",
  "größe:ä",
])("both firewalls accept the sets of the tag %j", async (tag) => {
  const odd = ["0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1", "::ffff:192.0.2.1"];
  const { folder } = await exported(tag, odd);
  const { sets, stem } = await exportedTag(folder, tag);
  const [nft, ipset] = ["nft", "ipset"].map((format) => join(folder, `${stem}.${format}`));
  expect(await nftSet(sets.ipv4, nft!)).toHaveLength(3);
  expect(await nftSet(sets.ipv6, nft!)).toHaveLength(3);
  expect(sorted(await ipSet(sets.ipv4, ipset!))).toEqual(["192.0.2.1", "255.255.255.255"]);
  expect(sorted(await ipSet(sets.ipv6, ipset!))).toEqual(["::1", "::ffff:192.0.2.1"]);
});

test("both firewalls accept the empty sets of an empty list", async () => {
  const { folder } = await exported("a:b", []);
  expect(await nftSet("a--b_v4", join(folder, "a--b.nft"))).toEqual([]);
  expect(await ipSet("a--b_v6", join(folder, "a--b.ipset"))).toEqual([]);
});

function expandV4(block: string): string[] {
  const [address = "", prefix = ""] = block.split("/");
  const first = address.split(".").reduce((number, octet) => number * 256 + Number(octet), 0);
  return Array.from({ length: 2 ** (32 - Number(prefix)) }, (_, at) => {
    const number = first + at;
    return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
  });
}

function normal(entries: readonly string[]): string[] {
  return entries.map((entry) => (entry === "2001:db8::0" ? "2001:db8::" : entry));
}
