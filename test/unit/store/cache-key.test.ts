import { expect, test } from "vitest";
import { cacheKeys, keyHash, lookupOfKey } from "../../../src/store/cache-key.js";
import { item, otherItem } from "../lookup/findings.js";

test("keys differ by address, endpoint, kind and item", () => {
  const keys = [
    cacheKeys("https://a.example/beta", "query")(item),
    cacheKeys("https://b.example/beta", "query")(item),
    cacheKeys("https://a.example/beta", "quick-check")(item),
    cacheKeys("https://a.example/beta", "query")(otherItem),
    cacheKeys("https://a.example/beta", "query")({ kind: "email", value: item.value }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test("spellings of one address share a key", () => {
  const written = [
    "https://A.example:443/beta",
    "https://a.example/beta/",
    "HTTPS://a.example/beta",
  ];
  const keys = written.map((address) => cacheKeys(address, "query")(item));
  expect(new Set(keys).size).toBe(1);
});

test("a name that isn't a URL is used unchanged", () => {
  expect(cacheKeys("the embedded service", "query")(item)).toBe(
    "query the embedded service ip 192.0.2.1",
  );
});

test.each([
  ["the embedded service", item],
  ["https://a.example/beta", { kind: "email", value: '"a query ip b"@example.com' }],
] as const)("a key says whom it asks: %s", (address, asked) => {
  for (const endpoint of ["query", "quick-check"] as const) {
    expect(lookupOfKey(cacheKeys(address, endpoint)(asked))).toBe(`${address} ${endpoint}`);
  }
});

test("a hash is a 53-bit integer that depends on all bits", () => {
  const hashes = Array.from({ length: 20_000 }, (_, n) => keyHash(`key ${n}`));
  expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true);
  const distinct = (part: (hash: number) => number): number => new Set(hashes.map(part)).size;
  // Among 20,000 texts, about 0.05 collisions are expected in 32 bits and 95 in 21 bits.
  expect(distinct((hash) => hash)).toBe(20_000);
  expect(distinct((hash) => hash % 2 ** 32)).toBeGreaterThan(19_990);
  expect(distinct((hash) => Math.floor(hash / 2 ** 32))).toBeGreaterThan(19_800);
});
