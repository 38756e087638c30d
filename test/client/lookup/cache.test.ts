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

function wrap(
  next: Lookup,
  options: { store?: MemoryStore<Finding>; address?: string } = {},
): Lookup {
  const { store = new MemoryStore<Finding>(), address = "https://intel.example/beta" } = options;
  return cached({ endpoint: "query", address, store })(next);
}

test("does not store a cached finding in the run's own store", async () => {
  const caches = new MemoryStore<Finding>();
  await wrap(scripted(complete()), { store: caches })(item, unaborted());
  const store = new MemoryStore();
  const next = wrap(scripted(complete()), { store: caches });
  await dedupe("query", { store })(next)(item, unaborted());
  expect(store.get(itemKey("query", item))).toBeNull();
});

test.each([
  ["a partial answer", lacking],
  ["an invalid item", invalid()],
])("stores %s", async (_name, finding) => {
  const next = scripted(finding);
  const lookup = wrap(next);
  await lookup(item, unaborted());
  expect((await lookup(item, unaborted())).source).toBe("cache");
});

test("does not store a failure", async () => {
  const next = scripted(failed("timeout"), complete());
  const lookup = wrap(next);
  await lookup(item, unaborted());
  expect((await lookup(item, unaborted())).source).toBe("live");
});

test("marks every repetition of a cached answer as cached, however close", async () => {
  const caches = new MemoryStore<Finding>();
  await wrap(scripted(complete()), { store: caches })(item, unaborted());
  const next = scripted(complete());
  const lookup = dedupe("query", { store: new MemoryStore() })(wrap(next, { store: caches }));
  const options = unaborted();
  const close = await Promise.all([lookup(item, options), lookup(item, options)]);
  const sources = [...close, await lookup(item, options)].map(({ source }) => source);
  expect([sources, next.asked.length]).toEqual([["cache", "cache", "cache"], 0]);
});

test("replaces an answer stored for another item", async () => {
  const store = new MemoryStore<Finding>();
  const foreign = complete({ item: "192.0.2.99", type: "IP" });
  await wrap(scripted(foreign), { store })(item, unaborted());
  const right = complete({ item: item.value, type: "IP" });
  const lookup = wrap(scripted(right), { store });
  expect(await lookup(item, unaborted())).toEqual(right);
  expect(await lookup(item, unaborted())).toMatchObject({
    answers: right.answers,
    source: "cache",
  });
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
