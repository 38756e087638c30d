import { Pool } from "undici";
import { expect, test } from "vitest";
import { RequestThread } from "../../../src/api/thread/request-thread.js";
import { openConnections } from "../../../src/pipeline/open-connections.js";

const url = "http://127.0.0.1:9/beta";
const perSecond = (count: number) => ({ count, perMs: 1_000 });

test.each([
  ["no rate", []],
  ["a high rate", [perSecond(1_000)]],
  ["a high rate with a day's quota", [perSecond(5_000), { count: 10_000, perMs: 86_400_000 }]],
])("%s is worth a thread", async (_, rate) => {
  const connections = await openConnections(url, { concurrency: 4, rate }, true);
  expect(connections).toBeInstanceOf(RequestThread);
});

test.each([
  ["the default rate", [perSecond(100)]],
  ["one low rate among high ones", [perSecond(5_000), { count: 600, perMs: 60_000 }]],
])("%s is not", async (_, rate) => {
  const connections = await openConnections(url, { concurrency: 4, rate }, true);
  expect(connections).toBeInstanceOf(Pool);
  await connections.destroy();
});

test("where threads are of no use there is none", async () => {
  const connections = await openConnections(url, { concurrency: 4, rate: [] }, false);
  expect(connections).toBeInstanceOf(Pool);
  await connections.destroy();
});
