import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { limit } from "../../../src/lookup/limit.js";
import { complete, held, item, otherItem, unaborted } from "./findings.js";

test("no more attempts are open than allowed", async () => {
  const next = held();
  const lookup = limit({ concurrency: 2 })(next);
  for (let i = 0; i < 5; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(2);
});

test("the next attempt begins when one ends", async () => {
  const next = held();
  const lookup = limit({ concurrency: 1 })(next);
  const first = lookup(item, unaborted());
  const second = lookup(otherItem, unaborted());
  await settle();
  next.open[0]?.answer(complete());
  await first;
  await settle();
  next.open[1]?.answer(complete({ item: "example.com" }));
  expect((await second).query?.["item"]).toBe("example.com");
});

test("lookups under the same wrapper share its slots", async () => {
  const [query, quickCheck] = [held(), held()];
  const wrap = limit({ concurrency: 1 });
  void wrap(query)(item, unaborted());
  void wrap(quickCheck)(item, unaborted());
  await settle();
  expect([query.open.length, quickCheck.open.length]).toEqual([1, 0]);
});

test("an attempt that rejects frees its slot", async () => {
  const next = held();
  const lookup = limit({ concurrency: 1 })(next);
  const first = lookup(item, unaborted());
  const second = lookup(item, unaborted());
  await settle();
  next.open[0]?.fail(new Error("refused"));
  await expect(first).rejects.toThrow("refused");
  await settle();
  next.open[1]?.answer(complete());
  await expect(second).resolves.toMatchObject({ status: "complete" });
});

test("an attempt that waited passes its rejection on", async () => {
  const next = held();
  const lookup = limit({ concurrency: 1 })(next);
  void lookup(item, unaborted());
  const second = lookup(item, unaborted());
  await settle();
  next.open[0]?.answer(complete());
  await settle();
  next.open[1]?.fail(new Error("refused"));
  await expect(second).rejects.toThrow("refused");
});

test("who waits is let go as soon as the signal aborts", async () => {
  const next = held();
  const lookup = limit({ concurrency: 1 })(next);
  const controller = new AbortController();
  void lookup(item, unaborted());
  const waiting = lookup(item, { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("who was let go is not asked for later", async () => {
  const next = held();
  const lookup = limit({ concurrency: 1 })(next);
  const controller = new AbortController();
  const first = lookup(item, unaborted());
  lookup(item, { signal: controller.signal }).catch(() => undefined);
  await settle();
  controller.abort();
  next.open[0]?.answer(complete());
  await first;
  await settle();
  expect(next.open).toHaveLength(1);
});

test("whose signal has aborted takes no slot", async () => {
  const lookup = limit({ concurrency: 1 })(held());
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(lookup(item, { signal: aborted })).rejects.toThrow("enough");
});

test("however many wait, their signal has one listener", () => {
  const lookup = limit({ concurrency: 1 })(held());
  const { signal } = unaborted();
  for (let i = 0; i < 50; i++) void lookup(item, { signal });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
});

/** Lets everything happen that waits for nothing. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
