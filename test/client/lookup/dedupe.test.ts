import { expect, test } from "vitest";
import { attemptKey, dedupe } from "../../../src/client/lookup/compose.js";
import { type LookupStore, MemoryStore } from "../../../src/client/store/store.js";
import {
  attempt,
  complete,
  failed,
  held,
  item,
  otherItem,
  scripted,
  unaborted,
} from "./findings.js";

function wrap(store: LookupStore = new MemoryStore()) {
  return dedupe("query", { store });
}

test("in flight, a lookup makes one request; the first caller gets the live answer and later ones a duplicate", async () => {
  const next = held();
  const lookup = wrap()(next);
  const { signal } = unaborted();
  const both = [lookup(item, { signal }), lookup(item, { signal })];
  next.open[0]?.answer(complete());
  expect((await Promise.all(both)).map(({ source }) => source)).toEqual(["live", "duplicate"]);
  expect(next.open).toHaveLength(1);
});

test("in flight, an aborted caller leaves the others alone", async () => {
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

test("in flight, asks again for a caller that shared an aborted lookup", async () => {
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

test.each([complete(), failed("timeout")])(
  "after a lookup that is $status, does not ask again, and gives duplicates its attempts",
  async (finding) => {
    const next = scripted({ ...finding, attempts: 4 });
    const lookup = wrap()(next);
    await lookup(item, unaborted());
    const again = await lookup(item, unaborted());
    expect(again).toEqual({ ...finding, source: "duplicate", attempts: 4 });
    expect(next.asked).toHaveLength(1);
  },
);

test("after an interruption gives the row that asked first the original, and later rows a duplicate", async () => {
  const store = new MemoryStore();
  const first = { ...unaborted(), row: 7 };
  await wrap(store)(scripted(complete()))(item, first);
  const resumed = wrap(store)(scripted());
  expect((await resumed(item, first)).source).toBe("live");
  expect((await resumed(item, { ...first, row: 8 })).source).toBe("duplicate");
});

test("looks up items of another kind or value separately", async () => {
  const next = scripted(complete());
  const lookup = wrap()(next);
  await lookup(item, unaborted());
  await lookup(otherItem, unaborted());
  await lookup({ kind: "url", value: item.value }, unaborted());
  expect(next.asked).toHaveLength(3);
});

test("stores a finding before any caller sees it", async () => {
  const order: string[] = [];
  const store = { get: () => null, put: () => void order.push("stored") };
  await wrap(store)(scripted(complete()))(item, unaborted());
  order.push("seen");
  expect(order).toEqual(["stored", "seen"]);
});

test("rejects if the store fails", async () => {
  const fail = (): never => {
    throw new Error("disk full");
  };
  for (const faulty of [{ get: fail }, { put: fail }]) {
    const store = { get: () => null, put: () => undefined, ...faulty };
    const finding = wrap(store)(scripted(complete()))(item, unaborted());
    await expect(finding).rejects.toThrow("disk full");
  }
});

test("marks an answer that no row of the run asked for as cached", async () => {
  const store = { get: () => attempt(complete()), put: () => undefined };
  const lookup = wrap(store)(scripted());
  for (let n = 0; n < 2; n++) expect((await lookup(item, unaborted())).source).toBe("cache");
});

test("in a resumed run a lookup starts with the attempts from before the interruption", async () => {
  const store = new MemoryStore();
  const reset = attempt(failed("connection_reset"), "transient");
  store.put(attemptKey("query", item, 1), reset);
  store.put(attemptKey("query", item, 2), reset);
  const begunWith: (number | undefined)[] = [];
  const lookup = dedupe("query", { store, isResumed: true })(async (_, { history }) => {
    begunWith.push(history?.attempts.length);
    return complete();
  });
  for (const asked of [otherItem, item]) await lookup(asked, unaborted());
  expect(begunWith).toEqual([0, 2]);
});
