import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { FairQueue } from "../../../../src/lookup/pace/fair-queue.js";
import { unaborted } from "../findings.js";

const { signal } = unaborted();

test("releases callers in order of arrival", async () => {
  const queue = new FairQueue<string>();
  const waiting = [queue.enqueue(signal), queue.enqueue(signal)];
  queue.release("first");
  queue.release("second");
  expect(await Promise.all(waiting)).toEqual(["first", "second"]);
});

test("releases nobody if nobody waits", () => {
  expect(new FairQueue<number>().release(1)).toBe(false);
});

test("skips an aborted caller", async () => {
  const queue = new FairQueue<number>();
  const controller = new AbortController();
  const gone = queue.enqueue(controller.signal);
  const here = queue.enqueue(signal);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  queue.release(1);
  expect(await here).toBe(1);
});

test("has the number of waiting callers as its size", () => {
  const queue = new FairQueue<number>();
  const controller = new AbortController();
  queue.enqueue(controller.signal).catch(() => undefined);
  void queue.enqueue(signal);
  void queue.enqueue(signal);
  controller.abort();
  queue.release(1);
  expect(queue.size).toBe(1);
});

test("reports when the last caller was aborted", () => {
  let told = 0;
  const queue = new FairQueue<number>(() => told++);
  const controller = new AbortController();
  for (let i = 0; i < 3; i++) queue.enqueue(controller.signal).catch(() => undefined);
  controller.abort();
  expect(told).toBe(1);
});

test("reports nothing when the last caller was released", () => {
  let told = 0;
  const queue = new FairQueue<number>(() => told++);
  void queue.enqueue(signal);
  queue.release(1);
  expect(told).toBe(0);
});

test("takes callers again after all were aborted", async () => {
  const queue = new FairQueue<number>();
  const controller = new AbortController();
  queue.enqueue(controller.signal).catch(() => undefined);
  controller.abort();
  const waiting = queue.enqueue(signal);
  queue.release(7);
  expect(await waiting).toBe(7);
});

test("refuses a caller whose signal has aborted", async () => {
  const queue = new FairQueue<number>();
  await expect(queue.enqueue(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  expect(queue.size).toBe(0);
});

test("leaves no listener when nobody waits", () => {
  const { signal } = unaborted();
  const queue = new FairQueue<number>();
  for (let i = 0; i < 20; i++) void queue.enqueue(signal);
  const during = getEventListeners(signal, "abort").length;
  while (queue.release(1));
  expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});
