import ipaddr from "ipaddr.js";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExclusions } from "../../../src/core/exclusions/read-exclusions.js";
import type { Item } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { seeded } from "../../helpers/seeded.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

type Random = () => number;

const below = (random: Random, most: number): number => Math.floor(random() * most);
const oneOf = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)]!;

/** Few values for each part, so that entries and items meet. */
const octets = [8, 9, 77];
const groups = ["2606", "4700", "0", "1", "ffff"];
const labels = ["a", "b", "corp", "xn--bcher-kva", "not-corp"];

function randomIp(random: Random): string {
  if (random() < 0.5) return [8, 0, 0, 0].map(() => oneOf(random, octets)).join(".");
  return ["2606", ...Array.from({ length: 7 }, () => oneOf(random, groups))].join(":");
}

function randomName(random: Random): string {
  const count = 1 + below(random, 3);
  const own = Array.from({ length: count }, () => oneOf(random, labels)).join(".");
  return `${own}.${oneOf(random, ["com", "example.net"])}`;
}

function randomEntry(random: Random): string {
  const ip = randomIp(random);
  const form = below(random, 5);
  if (form === 0) return ip;
  if (form === 1) return `${ip}/${below(random, ip.includes(":") ? 129 : 33)}`;
  if (form === 2) return `@${randomName(random)}`;
  return form === 3 ? randomName(random) : randomItem(random);
}

function randomItem(random: Random): string {
  const host = random() < 0.5 ? randomName(random) : randomIp(random);
  const form = below(random, 3);
  if (form === 0) return host;
  if (form === 1) return `me@${randomName(random)}`;
  return `http://${host.includes(":") ? `[${host}]` : host}/${oneOf(random, ["", "a", "b?c"])}`;
}

/** An entry, and the item that it is. */
interface Entry {
  readonly entry: string;
  readonly item: Item | null;
}

/** Judges an entry by itself, as slowly as it is plain. */
function naive({ entry, item }: Entry, { kind, value }: Item): boolean {
  const host =
    kind === "url"
      ? new URL(value).hostname.replace(/^\[|\]$/g, "")
      : kind === "email"
        ? value.slice(value.indexOf("@") + 1)
        : value;
  if (entry.startsWith("@")) return kind === "email" && host === entry.slice(1);
  if (entry.includes("://") || entry.includes("@")) {
    return item?.value === value;
  }
  if (ipaddr.isValid(host)) {
    const [address, length] = entry.split("/");
    if (!ipaddr.isValid(address!)) return false;
    const network = ipaddr.parse(address!);
    const own = ipaddr.parse(host);
    if (network.kind() !== own.kind()) return false;
    return own.match(
      network,
      length === undefined ? (network.kind() === "ipv4" ? 32 : 128) : Number(length),
    );
  }
  return host === entry || host.endsWith(`.${entry}`);
}

test("a list agrees with a plain reading of its entries", async () => {
  const folder = await temporaryFolder();
  let held = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const random = seeded(seed);
    const entries = Array.from({ length: 1 + below(random, 12) }, () => randomEntry(random));
    const path = join(folder, `${seed}`);
    await writeFile(path, entries.join("\n"));
    const [list] = await readExclusions([path]);
    const plain = entries.map((entry) => ({ entry, item: recogniseItem(entry).item }));
    for (let round = 0; round < 40; round++) {
      const { item } = recogniseItem(randomItem(random));
      if (item === null) continue;
      const expected = plain.some((entry) => naive(entry, item));
      expect(list!.has(item), `${item.value} in ${entries.join(", ")}`).toBe(expected);
      if (expected) held++;
    }
  }
  // Both answers have to occur.
  expect(held).toBeGreaterThan(250);
  expect(held).toBeLessThan(3_500);
});
