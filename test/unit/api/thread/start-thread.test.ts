import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startSpareThread, takeThread } from "../../../../src/api/thread/start-thread.js";

const idle = new URL(
  "data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.on('message', (text) => parentPort.postMessage(text))",
);

let started: Worker[] = [];
let ended: Promise<unknown>[] = [];

function note(worker: Worker): void {
  started.push(worker);
  ended.push(new Promise((resolve) => worker.once("exit", resolve)));
}

beforeEach(() => {
  [started, ended] = [[], []];
  process.on("worker", note);
});

afterEach(async () => {
  process.off("worker", note);
  await Promise.all(started.map((worker) => worker.terminate()));
});

test("a spare thread is taken once, and does what any other does", async () => {
  startSpareThread(idle);
  startSpareThread(idle);
  await expect.poll(() => started.length).toBe(1);
  const [first, second] = [takeThread(idle), takeThread(idle)];
  expect(first).toBe(started[0]);
  expect(second).not.toBe(first);
  const answer = once(first, "message");
  first.postMessage("here", []);
  expect(await answer).toEqual(["here"]);
});

test("a spare thread that runs another module is left alone", async () => {
  startSpareThread(idle);
  await expect.poll(() => started.length).toBe(1);
  const other = new URL(`${idle.href}//other`);
  expect(takeThread(other)).not.toBe(started[0]);
  expect(takeThread(idle)).toBe(started[0]);
});

test("a spare thread that broke down is not given to anybody", async () => {
  startSpareThread(new URL("data:text/javascript,throw new Error('no')"));
  await expect.poll(() => started.length).toBe(1);
  await ended[0];
  startSpareThread(idle);
  await expect.poll(() => started.length).toBe(2);
  expect(takeThread(idle)).toBe(started[1]);
});

test("where no thread is to be had, whoever needs one is told", () => {
  const nowhere = new URL("ftp://192.0.2.1/entry.js");
  startSpareThread(nowhere);
  expect(() => takeThread(nowhere)).toThrow("scheme");
});
