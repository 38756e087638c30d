import { expect, test } from "vitest";
import { cacheKeys } from "../../../src/client/store/cache-key.js";
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
