import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { FairQueue } from "../../../src/client/pace/slots.js";
import { unaborted } from "../lookup/findings.js";

const { signal } = unaborted();

test("releases callers in order of arrival", async () => {
  const queue = new FairQueue<string>();
  const waiting = [queue.enqueue(signal), queue.enqueue(signal)];
  queue.release("first");
  queue.release("second");
  expect(await Promise.all(waiting)).toEqual(["first", "second"]);
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

test("reports when the last caller was aborted", () => {
  let told = 0;
  const queue = new FairQueue<number>(() => told++);
  const controller = new AbortController();
  for (let i = 0; i < 3; i++) queue.enqueue(controller.signal).catch(() => undefined);
  controller.abort();
  expect(told).toBe(1);
});

test("leaves no listener when nobody waits", () => {
  const { signal } = unaborted();
  const queue = new FairQueue<number>();
  for (let i = 0; i < 20; i++) void queue.enqueue(signal);
  const during = getEventListeners(signal, "abort").length;
  while (queue.release(1));
  expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});
