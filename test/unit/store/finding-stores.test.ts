import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LookupRecord } from "../../../src/core/attempt.js";
import type { Finding } from "../../../src/core/finding.js";
import { openJournal } from "../../../src/store/journal/journal.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { LookupStore } from "../../../src/store/store.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, failed, invalid, partial, quick } from "../lookup/findings.js";

const stores: Readonly<Record<string, () => Promise<LookupStore>>> = {
  "a store in memory": () => Promise.resolve(new MemoryStore()),
  "a journal": async () => {
    const folder = join(await temporaryFolder(), "journal");
    const journal = await openJournal({ folder });
    onTestFinished(() => journal.close());
    return journal;
  },
};

/** A record of a finding alone. */
function kept(finding: Finding): LookupRecord {
  return { finding, again: null, drift: [] };
}

/** What every store of findings keeps to. */
describe.each(Object.keys(stores))("%s", (name) => {
  const open = (): Promise<LookupStore> => (stores[name] as () => Promise<LookupStore>)();

  test("has nothing under a key that was not put", async () => {
    const store = await open();
    expect(await store.get("query ip 192.0.2.1")).toBeNull();
  });

  test("has a finding as soon as putting it is done", async () => {
    const store = await open();
    await store.put("key", kept(complete()));
    expect(await store.get("key")).toEqual(kept(complete()));
  });

  test("keeps findings of every status, each member of them", async () => {
    const store = await open();
    const findings = {
      complete: { ...complete({ new_member: { deep: [1, "two", null] } }), attempts: 3 },
      partial: partial({ asn: null, tags: ["é:ü"] }, ["asn"]),
      invalid: invalid(),
      failed: failed("timeout"),
      quickCheck: quick(),
    };
    await Promise.all(Object.entries(findings).map(([key, each]) => store.put(key, kept(each))));
    for (const [key, each] of Object.entries(findings))
      expect(await store.get(key)).toEqual(kept(each));
  });

  test("keeps findings apart by key", async () => {
    const store = await open();
    await Promise.all([
      store.put("a", kept(complete({ n: 1 }))),
      store.put("b", kept(complete({ n: 2 }))),
    ]);
    const [a, b, none] = [await store.get("a"), await store.get("b"), await store.get("A")];
    expect([a, b, none]).toEqual([kept(complete({ n: 1 })), kept(complete({ n: 2 })), null]);
  });

  test("has the later of two findings that were put under one key", async () => {
    const store = await open();
    await store.put("key", kept(complete({ n: 1 })));
    await store.get("key");
    await store.put("key", kept(complete({ n: 2 })));
    expect(await store.get("key")).toEqual(kept(complete({ n: 2 })));
  });

  test("takes keys of any length and any characters", async () => {
    const store = await open();
    const long = `query url http://example.com/${"a".repeat(5000)}`;
    const keys = [`${long}1`, `${long}2`, 'quoted "\\ \u0000 \ud83d\ude00', ""];
    await Promise.all(keys.map((key) => store.put(key, kept(complete({ key })))));
    for (const key of keys) {
      expect((await store.get(key))?.finding.answers.query?.result["key"]).toBe(key);
    }
  });

  test("keeps what was put while it syncs", async () => {
    const store = await open();
    const put = store.put("key", kept(complete()));
    await store.sync();
    await put;
    expect(await store.get("key")).toEqual(kept(complete()));
  });
});
