import { describe, expect, test } from "vitest";
import type { LookupEndpoint } from "../../../src/core/finding.js";
import type { Item } from "../../../src/core/item/item.js";
import { dedupe } from "../../../src/lookup/dedupe.js";
import { attemptKey } from "../../../src/lookup/cache.js";
import { MemoryStore } from "../../../src/store/memory-store.js";
import type { LookupStore } from "../../../src/store/store.js";
import { complete, failed, held, item, otherItem, scripted, unaborted } from "./findings.js";
import { attempt } from "./attempts.js";

function wrap(endpoint: LookupEndpoint = "query", store: LookupStore = new MemoryStore()) {
  return dedupe({ endpoint, store });
}

describe("while an item is under way", () => {
  test("it is asked for once", async () => {
    const next = held();
    const lookup = wrap()(next);
    const both = [lookup(item, unaborted()), lookup(item, unaborted())];
    next.open[0]?.answer(complete());
    await Promise.all(both);
    expect(next.open).toHaveLength(1);
  });

  test("who asked first has the answer live, who comes later as a duplicate", async () => {
    const next = held();
    const lookup = wrap()(next);
    const { signal } = unaborted();
    const both = [lookup(item, { signal }), lookup(item, { signal })];
    next.open[0]?.answer(complete());
    expect((await Promise.all(both)).map(({ source }) => source)).toEqual(["live", "duplicate"]);
  });

  test("what ends the run ends it for all who wait", async () => {
    const next = held();
    const lookup = wrap()(next);
    const both = [lookup(item, unaborted()), lookup(item, unaborted())];
    next.open[0]?.fail(new Error("forbidden"));
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });

  test("who aborts alone ends alone", async () => {
    const next = held();
    const lookup = wrap()(next);
    const controller = new AbortController();
    const first = lookup(item, unaborted());
    const second = lookup(item, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    next.open[0]?.answer(complete());
    await expect(first).resolves.toMatchObject({ source: "live" });
  });

  test("who shares the answer of one who aborts asks on its own", async () => {
    const next = held();
    const lookup = wrap()(next);
    const controller = new AbortController();
    const first = lookup(item, { signal: controller.signal });
    const second = lookup(item, unaborted());
    controller.abort(new Error("enough"));
    next.open[0]?.fail(controller.signal.reason);
    await expect(first).rejects.toThrow("enough");
    next.open[1]?.answer(complete());
    await expect(second).resolves.toMatchObject({ source: "live" });
  });
});

describe("when an item is done", () => {
  test("it is not asked for again", async () => {
    const next = scripted(complete());
    const lookup = wrap()(next);
    await lookup(item, unaborted());
    const again = await lookup(item, unaborted());
    expect([again.source, next.asked.length]).toEqual(["duplicate", 1]);
  });

  test("its duplicate tells the attempts of the first", async () => {
    const lookup = wrap()(scripted({ ...complete(), attempts: 4 }));
    await lookup(item, unaborted());
    expect((await lookup(item, unaborted())).attempts).toBe(4);
  });

  test("it is not asked for again when it failed: a run asks for nothing twice", async () => {
    const next = scripted(failed("timeout"));
    const lookup = wrap()(next);
    await lookup(item, unaborted());
    const again = await lookup(item, unaborted());
    expect([again.status, again.source, next.asked.length]).toEqual(["failed", "duplicate", 1]);
  });

  test("it is asked for again when it was rejected", async () => {
    const next = held();
    const lookup = wrap()(next);
    const first = lookup(item, unaborted());
    next.open[0]?.fail(new Error("aborted"));
    await expect(first).rejects.toThrow("aborted");
    void lookup(item, unaborted());
    expect(next.open).toHaveLength(2);
  });
});

describe("when a run was interrupted", () => {
  test("the row that asked first gets the answer as its own, later rows as a duplicate", async () => {
    const store = new MemoryStore();
    const first = { ...unaborted(), row: 7 };
    await wrap("query", store)(scripted(complete()))(item, first);
    const resumed = wrap("query", store)(scripted());
    const sources = [
      (await resumed(item, first)).source,
      (await resumed(item, { ...first, row: 8 })).source,
    ];
    expect(sources).toEqual(["live", "duplicate"]);
  });
});

test("items of another kind or value are asked for on their own", async () => {
  const next = scripted(complete());
  const lookup = wrap()(next);
  await lookup(item, unaborted());
  await lookup(otherItem, unaborted());
  await lookup({ kind: "url", value: item.value }, unaborted());
  expect(next.asked).toHaveLength(3);
});

test("the endpoints do not answer for each other", async () => {
  const store = new MemoryStore();
  const [query, quickCheck] = [scripted(complete()), scripted(complete())];
  await wrap("query", store)(query)(item, unaborted());
  await wrap("quick-check", store)(quickCheck)(item, unaborted());
  expect([query.asked.length, quickCheck.asked.length]).toEqual([1, 1]);
});

test("a finding is in the store before anyone has it", async () => {
  let kept = (): void => undefined;
  const store = slowStore({ put: () => new Promise((resolve) => (kept = resolve)) });
  let had = false;
  const finding = wrap("query", store)(scripted(complete()))(item, unaborted());
  void finding.then(() => (had = true));
  await turn();
  const before = had;
  kept();
  await finding;
  expect([before, had]).toEqual([false, true]);
});

test("who asks while the store keeps the finding shares it", async () => {
  let kept = (): void => undefined;
  const store = slowStore({ put: () => new Promise((resolve) => (kept = resolve)) });
  const next = scripted(complete());
  const lookup = wrap("query", store)(next);
  const first = lookup(item, unaborted());
  await turn();
  const second = lookup(item, unaborted());
  kept();
  await Promise.all([first, second]);
  expect(next.asked).toHaveLength(1);
});

test("when the store cannot keep the finding nobody has it", async () => {
  const store = slowStore({ put: () => Promise.reject(new Error("disk full")) });
  await expect(wrap("query", store)(scripted(complete()))(item, unaborted())).rejects.toThrow(
    "disk full",
  );
});

test("who finds the store busy has the answer when it is not", async () => {
  const store = slowStore({ get: () => Promise.resolve(attempt(complete())) });
  const next = scripted(complete());
  const finding = await wrap("query", store)(next)(item, unaborted());
  expect([finding.source, next.asked.length]).toEqual(["duplicate", 0]);
});

test("of those who find the store busy and without an answer one asks", async () => {
  let busy = true;
  const store = slowStore({ get: () => (busy ? turn().then(() => null) : null) });
  const next = held();
  const lookup = wrap("query", store)(next);
  void lookup(item, unaborted());
  void lookup(item, unaborted());
  busy = false;
  await turn();
  await turn();
  expect(next.open).toHaveLength(1);
});

function slowStore(parts: Partial<LookupStore>): LookupStore {
  return {
    get: () => null,
    put: () => Promise.resolve(),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
    ...parts,
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe("in a resumed run", () => {
  test("a lookup begins with the attempts of the earlier part, and only then", async () => {
    const store = new MemoryStore();
    const reset = attempt(failed("connection_reset"), { policy: "transient", afterMs: null });
    await store.put(attemptKey("query", item, 1), reset);
    await store.put(attemptKey("query", item, 2), reset);
    const begunWith = async (isResumed: boolean, asked: Item): Promise<number | undefined> => {
      let attempts: number | undefined;
      const lookup = dedupe({ endpoint: "query", store, isResumed })((_, options) => {
        attempts = options.history?.attempts.length;
        return Promise.resolve(complete());
      });
      await lookup(asked, unaborted());
      return attempts;
    };
    expect(await begunWith(true, otherItem)).toBe(0);
    expect(await begunWith(true, item)).toBe(2);
  });
});
