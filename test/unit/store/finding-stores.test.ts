import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openJournal } from "../../../src/store/journal/journal.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { FindingStore } from "../../../src/store/store.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, failed, invalid, partial } from "../lookup/findings.js";

const stores: Readonly<Record<string, () => Promise<FindingStore>>> = {
  "a store in memory": () => Promise.resolve(new MemoryStore()),
  "a journal": async () => {
    const folder = join(await temporaryFolder(), "journal");
    const journal = await openJournal({ folder });
    onTestFinished(() => journal.close());
    return journal;
  },
};

/** What every store of findings keeps to. */
describe.each(Object.keys(stores))("%s", (name) => {
  const open = (): Promise<FindingStore> => (stores[name] as () => Promise<FindingStore>)();

  test("has nothing under a key that was not put", async () => {
    const store = await open();
    expect(await store.get("query ip 192.0.2.1")).toBeNull();
  });

  test("has a finding as soon as putting it is done", async () => {
    const store = await open();
    await store.put("key", complete());
    expect(await store.get("key")).toEqual(complete());
  });

  test("keeps findings of every status, each member of them", async () => {
    const store = await open();
    const { again: _, ...lacking } = partial({ asn: null, tags: ["é:ü"] }, ["asn"]);
    const findings = {
      complete: { ...complete({ new_member: { deep: [1, "two", null] } }), attempts: 3 },
      partial: lacking,
      invalid: invalid(),
      failed: failed("timeout"),
      quickCheck: { ...complete(), query: null, quickCheck: { item: "192.0.2.1" } },
    };
    await Promise.all(Object.entries(findings).map(([key, each]) => store.put(key, each)));
    for (const [key, each] of Object.entries(findings)) expect(await store.get(key)).toEqual(each);
  });

  test("keeps findings apart by key", async () => {
    const store = await open();
    await Promise.all([store.put("a", complete({ n: 1 })), store.put("b", complete({ n: 2 }))]);
    const [a, b, none] = [await store.get("a"), await store.get("b"), await store.get("A")];
    expect([a?.query?.["n"], b?.query?.["n"], none]).toEqual([1, 2, null]);
  });

  test("has the later of two findings that were put under one key", async () => {
    const store = await open();
    await store.put("key", complete({ n: 1 }));
    await store.get("key");
    await store.put("key", complete({ n: 2 }));
    expect((await store.get("key"))?.query?.["n"]).toBe(2);
  });

  test("takes keys of any length and any characters", async () => {
    const store = await open();
    const long = `query url http://example.com/${"a".repeat(5000)}`;
    const keys = [`${long}1`, `${long}2`, 'quoted "\\ \u0000 \ud83d\ude00', ""];
    await Promise.all(keys.map((key) => store.put(key, complete({ key }))));
    for (const key of keys) expect((await store.get(key))?.query?.["key"]).toBe(key);
  });

  test("keeps what was put while it syncs", async () => {
    const store = await open();
    const put = store.put("key", complete());
    await store.sync();
    await put;
    expect(await store.get("key")).toEqual(complete());
  });
});
