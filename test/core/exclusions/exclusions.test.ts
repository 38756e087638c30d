import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExclusions } from "../../../src/core/exclusions/read-exclusions.js";
import type { Item } from "../../../src/core/item/item.js";
import { recogniseItem } from "../../../src/core/item/recognise.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

/** Few values for each part, so that entries and items meet. */
const octet = fc.constantFrom(8, 9, 77);
const group = fc.constantFrom("2606", "4700", "0", "1", "ffff");
const label = fc.constantFrom("a", "b", "corp", "xn--bcher-kva", "not-corp");

const ipv4 = fc.tuple(octet, octet, octet).map((octets) => [8, ...octets].join("."));
const ipv6 = fc
  .array(group, { minLength: 7, maxLength: 7 })
  .map((groups) => ["2606", ...groups].join(":"));
const name = fc
  .tuple(fc.array(label, { minLength: 1, maxLength: 3 }), fc.constantFrom("com", "example.net"))
  .map(([labels, suffix]) => [...labels, suffix].join("."));
const host = fc.oneof(
  name,
  ipv4,
  ipv6.map((ip) => `[${ip}]`),
);
const url = fc
  .tuple(host, fc.constantFrom("", "a", "b?c"))
  .map(([host, path]) => `http://${host}/${path}`);
const anItem = fc.oneof(
  name,
  ipv4,
  ipv6,
  url,
  name.map((domain) => `me@${domain}`),
);
const anEntry = fc.oneof(
  anItem,
  fc.oneof(fc.tuple(ipv4, fc.nat(32)), fc.tuple(ipv6, fc.nat(128))).map((parts) => parts.join("/")),
  name.map((domain) => `@${domain}`),
);

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
  if (entry.includes("://") || entry.includes("@")) return item?.value === value;
  if (ipaddr.isValid(host)) {
    const [address, length] = entry.split("/");
    if (!ipaddr.isValid(address!)) return false;
    const network = ipaddr.parse(address!);
    const own = ipaddr.parse(host);
    if (network.kind() !== own.kind()) return false;
    return own.match(network, Number(length ?? 8 * network.toByteArray().length));
  }
  return host === entry || host.endsWith(`.${entry}`);
}

test("a list agrees with a plain reading of its entries", async () => {
  const path = join(await temporaryFolder(), "list");
  const entries = fc.array(anEntry, { minLength: 1, maxLength: 12 });
  const items = fc.array(anItem, { minLength: 40, maxLength: 40 });
  const answers = { true: 0, false: 0 };
  await fc.assert(
    fc.asyncProperty(entries, items, async (lines, texts) => {
      await writeFile(path, lines.join("\n"));
      const [list] = await readExclusions([path]);
      const plain = lines.map((entry) => ({ entry, item: recogniseItem(entry).item }));
      for (const text of texts) {
        const { item } = recogniseItem(text);
        if (item === null) continue;
        const expected = plain.some((entry) => naive(entry, item));
        expect(list!.has(item), `${item.value} in ${lines.join(", ")}`).toBe(expected);
        answers[`${expected}`]++;
      }
    }),
  );
  // Both have to occur.
  expect(Math.min(answers.true, answers.false)).toBeGreaterThan(250);
});
