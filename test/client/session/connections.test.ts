import { Pool } from "undici";
import { expect, test } from "vitest";
import type { Rate } from "../../../src/core/options.js";
import { openConnections, queueOf } from "../../../src/client/session/session.js";

const url = "http://127.0.0.1:9/beta";
const perSecond = (count: number) => ({ count, perMs: 1_000 });

const dayQuota = (count: number) => ({ count, perMs: 86_400_000 });

test.each<[what: string, rate: Rate[], threads: boolean, isThread: boolean]>([
  ["no rate", [], true, true],
  ["a high rate", [perSecond(1_000)], true, true],
  ["a high rate with a day's quota", [perSecond(5_000), dayQuota(10_000)], true, true],
  ["the default rate", [perSecond(100)], true, false],
  ["one low rate among high ones", [perSecond(5_000), { count: 600, perMs: 60_000 }], true, false],
  ["no rate where threads do not help", [], false, false],
])("%s uses a thread or not", async (_, rate, threads, isThread) => {
  const dispatcher = await openConnections(
    url,
    { concurrency: 4, rate },
    { leaveSpacing: () => () => 0 },
    threads,
  );
  expect([dispatcher instanceof Pool, "open" in dispatcher]).toEqual([!isThread, isThread]);
  await dispatcher.destroy();
});

test.each<[what: string, rate: Rate[], maxRequests?: number]>([
  ["a rate that may be a limit", [perSecond(9_999)]],
  ["a day's quota", [perSecond(10_000), dayQuota(1_000_000)]],
  ["a budget", [perSecond(10_000)], 1_000_000],
  ["no thread", []],
])("with %s, no request waits on the thread", (_, rate, maxRequests) => {
  expect(queueOf(rate, maxRequests)).toBe(0);
});
