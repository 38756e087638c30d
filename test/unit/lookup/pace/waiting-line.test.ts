import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { WaitingLine } from "../../../../src/lookup/pace/waiting-line.js";
import { unaborted } from "../findings.js";

const { signal } = unaborted();

test("those who wait are admitted in the order in which they came", async () => {
  const line = new WaitingLine<string>();
  const waiting = [line.join(signal), line.join(signal)];
  line.admit("first");
  line.admit("second");
  expect(await Promise.all(waiting)).toEqual(["first", "second"]);
});

test("nobody is admitted when nobody waits", () => {
  expect(new WaitingLine<number>().admit(1)).toBe(false);
});

test("who gave up is passed over", async () => {
  const line = new WaitingLine<number>();
  const controller = new AbortController();
  const gone = line.join(controller.signal);
  const here = line.join(signal);
  controller.abort(new Error("enough"));
  await expect(gone).rejects.toThrow("enough");
  line.admit(1);
  expect(await here).toBe(1);
});

test("its size is the number of those who wait", () => {
  const line = new WaitingLine<number>();
  const controller = new AbortController();
  line.join(controller.signal).catch(() => undefined);
  void line.join(signal);
  void line.join(signal);
  controller.abort();
  line.admit(1);
  expect(line.size).toBe(1);
});

test("it tells when the last one gave up", () => {
  let told = 0;
  const line = new WaitingLine<number>(() => told++);
  const controller = new AbortController();
  for (let i = 0; i < 3; i++) line.join(controller.signal).catch(() => undefined);
  controller.abort();
  expect(told).toBe(1);
});

test("it tells nothing when the last one was admitted", () => {
  let told = 0;
  const line = new WaitingLine<number>(() => told++);
  void line.join(signal);
  line.admit(1);
  expect(told).toBe(0);
});

test("one can join after all had given up", async () => {
  const line = new WaitingLine<number>();
  const controller = new AbortController();
  line.join(controller.signal).catch(() => undefined);
  controller.abort();
  const waiting = line.join(signal);
  line.admit(7);
  expect(await waiting).toBe(7);
});

test("whose signal has aborted does not join", async () => {
  const line = new WaitingLine<number>();
  await expect(line.join(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  expect(line.size).toBe(0);
});

test("no listener is left when nobody waits", () => {
  const { signal } = unaborted();
  const line = new WaitingLine<number>();
  for (let i = 0; i < 20; i++) void line.join(signal);
  const during = getEventListeners(signal, "abort").length;
  while (line.admit(1));
  expect([during, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});
