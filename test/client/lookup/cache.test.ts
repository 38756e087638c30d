import { expect, test } from "vitest";
import type { Finding } from "../../../src/core/finding.js";
import { cached, cachedAnswers } from "../../../src/client/lookup/cache.js";
import { dedupe, itemKey } from "../../../src/client/lookup/compose.js";
import { MemoryStore } from "../../../src/client/store/store.js";
import type { Lookup } from "../../../src/client/lookup/types.js";
import {
  complete,
  failed,
  invalid,
  item,
  otherItem,
  partial,
  scripted,
  unaborted,
} from "./findings.js";

const lacking = partial({ asn: null }, ["asn"]);

function wrap(next: Lookup, store = new MemoryStore<Finding>()): Lookup {
  return cached({ endpoint: "query", address: "https://intel.example/beta", store })(next);
}

/** A cache with the answer about an item. */
async function filled(finding = complete()): Promise<MemoryStore<Finding>> {
  const caches = new MemoryStore<Finding>();
  await wrap(scripted(finding), caches)(item, unaborted());
  return caches;
}

test("does not store a cached finding in the run's own store", async () => {
  const store = new MemoryStore();
  const next = wrap(scripted(complete()), await filled());
  await dedupe("query", { store })(next)(item, unaborted());
  expect(store.get(itemKey("query", item))).toBeNull();
});

test.each([
  ["an answer", complete(), "cache"],
  ["a partial answer", lacking, "cache"],
  ["an invalid item", invalid(), "cache"],
  ["a failure", failed("timeout"), "live"],
])("after %s, the next one comes %s", async (_name, finding, source) => {
  const lookup = wrap(scripted(complete()), await filled(finding));
  expect((await lookup(item, unaborted())).source).toBe(source);
});

test("marks every repetition of a cached answer as cached, however close", async () => {
  const next = scripted(complete());
  const lookup = dedupe("query", { store: new MemoryStore() })(wrap(next, await filled()));
  const options = unaborted();
  const close = await Promise.all([lookup(item, options), lookup(item, options)]);
  const sources = [...close, await lookup(item, options)].map(({ source }) => source);
  expect([sources, next.asked.length]).toEqual([["cache", "cache", "cache"], 0]);
});

test("replaces an answer stored for another item", async () => {
  const right = complete({ item: item.value, type: "IP" });
  const foreign = complete({ item: "192.0.2.99", type: "IP" });
  const lookup = wrap(scripted(right), await filled(foreign));
  expect(await lookup(item, unaborted())).toEqual(right);
  expect(await lookup(item, unaborted())).toEqual({ ...right, source: "cache" });
});

test.each([
  ["another address", { address: "https://b.example/beta" }, false],
  ["another endpoint", { endpoint: "quick-check" }, false],
  ["another item", { asked: otherItem }, false],
  ["another kind", { asked: { kind: "email", value: item.value } }, false],
  ["the address with its port", { address: "https://A.example:443/beta" }, true],
  ["the address with a slash", { address: "https://a.example/beta/" }, true],
  ["the address in capitals", { address: "HTTPS://a.example/beta" }, true],
] as const)("an answer is found, or not, by %s: %s", (_, other, isFound) => {
  const store = new MemoryStore<Finding>();
  const own = { address: "https://a.example/beta", endpoint: "query", asked: item, store } as const;
  cachedAnswers(own).put(item, invalid());
  const { asked, ...where } = { ...own, ...other };
  expect(cachedAnswers(where).get(asked)).toEqual(isFound ? invalid() : null);
});
