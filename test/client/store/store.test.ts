import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../../src/core/finding.js";
import { openCache } from "../../../src/client/store/cache.js";
import { MemoryStore } from "../../../src/client/store/store.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, failed, invalid, partial, quick } from "../lookup/findings.js";
import { openJournal } from "./journals.js";

interface Opened<Value> {
  readonly store: { get(key: string): unknown; put(key: string, value: Value): unknown };
  /** Makes the value to store for a finding. */
  readonly kept: (finding: Finding) => Value;
}

const asIs = (finding: Finding): Finding => finding;

const stores: Readonly<Record<string, () => Promise<Opened<unknown>>>> = {
  "a store in memory": () => Promise.resolve({ store: new MemoryStore<unknown>(), kept: asIs }),
  "a cache": async () => {
    const cache = await openCache({
      folder: join(await temporaryFolder(), "cache"),
      ttlMs: 60_000,
      clock: new ManualClock(),
      onWarning: (message) => expect.unreachable(message),
    });
    onTestFinished(() => cache.close());
    return { store: cache, kept: asIs };
  },
  "a journal": async () => {
    const { journal } = await openJournal(await temporaryFolder());
    return { store: journal, kept: (finding) => ({ finding, again: null, drift: [] }) };
  },
};

/** The contract of every store. */
describe.each(Object.keys(stores))("%s", (name) => {
  const open = (): Promise<Opened<unknown>> => (stores[name] as () => Promise<Opened<unknown>>)();

  test("stores findings of every status completely", async () => {
    const { store, kept } = await open();
    const findings = {
      complete: { ...complete({ new_member: { deep: [1, "two", null] } }), attempts: 3 },
      partial: partial({ asn: null, tags: ["é:ü"] }, ["asn"]),
      invalid: invalid(),
    };
    const all = [
      ...Object.entries(findings).map(([key, each]) => [`query ${key}`, each] as const),
      ["quick-check key", quick()] as const,
    ];
    for (const [key, each] of all) store.put(key, kept(each));
    for (const [key, each] of all) expect(store.get(key)).toEqual(kept(each));
  });

  test.skipIf(name === "a cache")("stores failures", async () => {
    const { store, kept } = await open();
    store.put("query key", kept(failed("timeout")));
    expect(store.get("query key")).toEqual(kept(failed("timeout")));
  });

  test("distinguishes findings by key", async () => {
    const { store, kept } = await open();
    store.put("query a", kept(complete({ n: 1 })));
    store.put("query b", kept(complete({ n: 2 })));
    const found = ["query a", "query b", "query A"].map((key) => store.get(key));
    expect(found).toEqual([kept(complete({ n: 1 })), kept(complete({ n: 2 })), null]);
  });

  test("returns the later of two findings under one key", async () => {
    const { store, kept } = await open();
    store.put("query key", kept(complete({ n: 1 })));
    store.get("query key");
    store.put("query key", kept(complete({ n: 2 })));
    expect(store.get("query key")).toEqual(kept(complete({ n: 2 })));
  });

  test("accepts keys of any length and any characters", async () => {
    const { store, kept } = await open();
    const long = `query url http://example.com/${"a".repeat(5000)}`;
    const keys = [`${long}1`, `${long}22`, 'query quoted "\\ \u0000 \ud83d\ude00', "query "];
    for (const key of keys) store.put(key, kept(complete({ n: key.length })));
    for (const key of keys) expect(store.get(key)).toEqual(kept(complete({ n: key.length })));
  });
});
