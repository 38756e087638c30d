import { expect, test } from "vitest";
import { lookupPath } from "../../../../src/api/intel-client.js";
import { MemoryStore } from "../../../../src/store/memory-store.js";
import { arrivedKey, recovered } from "../../../../src/lookup/attempt/recovered.js";
import type { LookupStore } from "../../../../src/store/store.js";
import { complete, item, otherItem, scripted, unaborted } from "../attempts.js";

const found = complete({ asn: "AS64496" });

test("an answer that came before is taken, for its endpoint and item alone", async () => {
  const store = new MemoryStore();
  await store.put(arrivedKey("/query/192.0.2.1"), found);
  const [query, quickCheck] = [scripted(complete()), scripted(complete())];
  const wrap = (endpoint: "query" | "quick-check") =>
    recovered({ endpoint, store, pathOf: lookupPath });
  expect(await wrap("query")(query)(item, unaborted())).toEqual(found);
  await wrap("query")(query)(otherItem, unaborted());
  await wrap("quick-check")(quickCheck)(item, unaborted());
  expect([query.asked, quickCheck.asked]).toEqual([[otherItem], [item]]);
});

test("a store that is busy is waited for", async () => {
  const store: Pick<LookupStore, "get"> = {
    get: (key) => Promise.resolve(key.endsWith("192.0.2.1") ? found : null),
  };
  const next = scripted(complete());
  const lookup = recovered({
    endpoint: "query",
    store: Object.assign(new MemoryStore(), store),
    pathOf: lookupPath,
  })(next);
  expect(await lookup(item, unaborted())).toEqual(found);
  expect(await lookup(otherItem, unaborted())).toEqual(complete());
  expect(next.asked).toEqual([otherItem]);
});

test("an answer that came for another item is not taken", async () => {
  const store = new MemoryStore();
  await store.put(arrivedKey("/query/192.0.2.1"), complete({ item: "192.0.2.99", type: "IP" }));
  const lookup = recovered({ endpoint: "query", store, pathOf: lookupPath })(scripted(found));
  expect(await lookup(item, unaborted())).toEqual(found);
});
