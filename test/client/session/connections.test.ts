import { Pool } from "undici";
import { expect, test } from "vitest";
import { RequestThread } from "../../../src/client/api/thread/request-thread.js";
import { mayQueue, openConnections } from "../../../src/client/session/connections.js";

const url = "http://127.0.0.1:9/beta";
const perSecond = (count: number) => ({ count, perMs: 1_000 });

test.each([
  ["no rate", []],
  ["a high rate", [perSecond(1_000)]],
  ["a high rate with a day's quota", [perSecond(5_000), { count: 10_000, perMs: 86_400_000 }]],
])("%s uses a thread", async (_, rate) => {
  const { dispatcher } = await openConnections(url, { concurrency: 4, rate }, true);
  expect(dispatcher).toBeInstanceOf(RequestThread);
});

test.each([
  ["the default rate", [perSecond(100)]],
  ["one low rate among high ones", [perSecond(5_000), { count: 600, perMs: 60_000 }]],
])("%s is not", async (_, rate) => {
  const settings = { concurrency: 4, rate };
  const { dispatcher, queue } = await openConnections(url, settings, true);
  expect(dispatcher).toBeInstanceOf(Pool);
  expect(queue).toBe(0);
  await dispatcher.destroy();
});

test("uses no thread where threads do not help", async () => {
  const settings = { concurrency: 4, rate: [] };
  const { dispatcher, queue } = await openConnections(url, settings, false);
  expect(dispatcher).toBeInstanceOf(Pool);
  expect(queue).toBe(0);
  await dispatcher.destroy();
});

const high = [perSecond(10_000)];

test.each([
  ["a rate that is no limit", high],
  ["no rate at all", []],
])("allows queueing with %s", (_, rate) => {
  expect(mayQueue(rate)).toBe(true);
});

test.each([
  ["a rate that may be one", [perSecond(9_999)], undefined],
  ["a day's quota", [...high, { count: 1_000_000, perMs: 86_400_000 }], undefined],
  ["a budget", high, 1_000_000],
])("allows no queueing with %s", (_, rate, maxRequests) => {
  expect(mayQueue(rate, maxRequests)).toBe(false);
});
