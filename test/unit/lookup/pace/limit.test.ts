import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { Backlog } from "../../../../src/lookup/pace/backlog.js";
import { limit } from "../../../../src/lookup/pace/limit.js";
import { SendAhead } from "../../../../src/lookup/pace/send-ahead.js";
import { complete, held, item, otherItem, unaborted } from "../attempts.js";

test("no more attempts are open than allowed", async () => {
  const next = held();
  const lookup = limit({ concurrency: 2 })(next);
  for (let i = 0; i < 5; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(2);
});

test("as many more begin as may queue, once all slots are needed and until a limit shows", async () => {
  const next = held();
  const [ahead, need] = [new SendAhead(3), { most: 1 }];
  const lookup = limit({ concurrency: 2, ahead, need })(next);
  for (let i = 0; i < 9; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(1);
  ahead.begin();
  need.most = 2;
  next.open[0]?.answer(complete());
  await settle();
  expect(next.open).toHaveLength(1 + 5);
  ahead.end();
  for (const open of next.open.slice(1, 4)) open.answer(complete());
  await settle();
  expect(next.open).toHaveLength(6);
  next.open[4]?.answer(complete());
  await settle();
  expect(next.open).toHaveLength(7);
  ahead.begin();
  expect(ahead.most).toBe(0);
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
  expect((await second).finding.answers.query?.result["item"]).toBe("example.com");
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
  await expect(second).resolves.toMatchObject({ outcome: "200" });
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

test("as many more are opened as have become needed", async () => {
  const next = held();
  const need = { most: 1 };
  const lookup = limit({ concurrency: 10, need })(next);
  for (let i = 0; i < 9; i++) void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(1);
  need.most = 5;
  next.open[0]?.answer(complete());
  await settle();
  expect(next.open).toHaveLength(6);
});

test("fewer are opened when fewer are needed, and all are asked in the end", async () => {
  const next = held();
  const need = { most: 4 };
  const lookup = limit({ concurrency: 4, need })(next);
  const all = Array.from({ length: 10 }, () => lookup(item, unaborted()));
  await settle();
  need.most = 1;
  for (const [ended, open] of [
    [4, 5],
    [5, 6],
    [6, 7],
  ] as const) {
    for (const attempt of next.open.slice(0, ended)) attempt.answer(complete());
    await settle();
    expect(next.open).toHaveLength(open);
  }
  for (let n = 7; n < 10; n++) {
    next.open[n - 1]?.answer(complete());
    await settle();
  }
  next.open[9]?.answer(complete());
  await expect(Promise.all(all)).resolves.toHaveLength(10);
});

test("a slot that was left empty is taken again", async () => {
  const next = held();
  const lookup = limit({ concurrency: 2 })(next);
  for (let n = 0; n < 6; n++) {
    const answer = lookup(item, unaborted());
    await settle();
    next.open[n]?.answer(complete());
    await answer;
    await settle();
  }
  void lookup(item, unaborted());
  void lookup(item, unaborted());
  await settle();
  expect(next.open).toHaveLength(8);
});

test("an attempt that throws frees its slot", async () => {
  const lookup = limit({ concurrency: 1 })(() => {
    throw new Error("refused");
  });
  const all = [1, 2, 3].map(() => lookup(item, unaborted()));
  for (const each of all) await expect(each).rejects.toThrow("refused");
});

test("says when enough wait, and when there is room again", async () => {
  const next = held();
  const backlog = new Backlog(2);
  const onRoom = vi.fn<() => void>();
  backlog.onRoom(onRoom);
  const lookup = limit({ concurrency: 1, backlog })(next);
  for (let i = 0; i < 3; i++) void lookup(item, unaborted());
  await settle();
  expect(backlog.crowded).toBe(true);
  next.open[0]?.answer(complete());
  await settle();
  expect([backlog.crowded, onRoom.mock.calls.length]).toEqual([false, 1]);
});

/** Lets everything happen that waits for nothing. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
