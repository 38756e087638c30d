import { afterAll, beforeAll, expect, test } from "vitest";
import { RedisLink } from "../../src/store/redis/redis-link.js";
import { RedisServer } from "../helpers/redis-server.js";
import { mostInASecond, simulateSharedPace } from "../helpers/shared-pace-simulation.js";

let server: RedisServer;
let redis: RedisLink;

beforeAll(async () => {
  server = await RedisServer.start({ settings: { appendonly: "no" } });
  redis = await RedisLink.open(server.url(), { environment: {} });
});
afterAll(async () => {
  redis?.close();
  await server?.stop();
});

for (const rate of [100, 1_500, 5_000]) {
  for (const count of [1, 4, 16]) {
    test(`${count} workers keep ${rate}/s together`, async () => {
      const sent = await simulateSharedPace({
        redis,
        service: `https://a.test/${rate}/${count}`,
        rates: [{ count: rate, perMs: 1000 }],
        workers: Array.from({ length: count }, (_, n) => ({ aheadMs: (n % 3) * 3.6e6 - 3.6e6 })),
        ms: 4_200,
      });
      expect(mostInASecond(sent)).toBeLessThanOrEqual(rate * 1.05);
      const steady = sent.filter(({ ms }) => ms >= 1_000 && ms < 4_000);
      expect(steady.length / 3).toBeGreaterThanOrEqual(0.97 * rate);
    });
  }
}

test("a throttle answer at one worker holds all within 200 ms", async () => {
  // The service accepts 300 requests in each second of its own clock.
  const counts = new Map<number, number>();
  const sent = await simulateSharedPace({
    redis,
    service: "https://a.test/throttled",
    rates: [{ count: 1_000, perMs: 1000 }],
    workers: Array.from({ length: 4 }, () => ({})),
    adaptive: true,
    ms: 60_000,
    answer: (nowMs) => {
      const second = Math.floor(nowMs / 1000);
      const count = (counts.get(second) ?? 0) + 1;
      counts.set(second, count);
      return { afterMs: 5, throttled: count > 300 };
    },
  });
  const first = sent.find(({ throttled }) => throttled)?.ms ?? 0;
  // Two round trips, and what was under way.
  const late = sent.filter(({ ms }) => ms > first + 200 && ms < first + 250);
  expect(first).toBeGreaterThan(0);
  expect(late).toEqual([]);
  const steady = sent.filter(({ ms }) => ms > 20_000);
  const throttled = steady.filter((request) => request.throttled).length;
  expect(throttled / steady.length).toBeLessThanOrEqual(0.015);
  expect(steady.length - throttled).toBeGreaterThan(0.5 * 300 * 40);
});

test("ten items of high priority don't wait behind a night of low priority", async () => {
  const sent = await simulateSharedPace({
    redis,
    service: "https://a.test/priority",
    rates: [{ count: 20, perMs: 1000 }],
    workers: [
      ...Array.from({ length: 8 }, () => ({ priority: "low" as const })),
      { priority: "high", concurrency: 10, startMs: 5_000 },
    ],
    ms: 7_000,
    answer: () => ({ afterMs: 60_000, throttled: false }),
  });
  const high = sent.filter(({ worker }) => worker === 8).map(({ ms }) => ms);
  expect(high).toHaveLength(10);
  // Half a second of slots, and those that were handed out before.
  expect(Math.max(...high)).toBeLessThan(5_000 + 500 + 250);
});

for (const jumpMs of [60_000, -60_000]) {
  test(`the pace holds when the clock of Redis jumps by ${jumpMs} ms`, async () => {
    const sent = await simulateSharedPace({
      redis,
      service: `https://a.test/jump/${jumpMs}`,
      rates: [{ count: 200, perMs: 1000 }],
      workers: [{}, {}, {}],
      ms: 8_000,
      serverAheadMs: (nowMs) => (nowMs > 4_000 ? jumpMs : 0),
    });
    expect(mostInASecond(sent)).toBeLessThanOrEqual(210);
    const gaps = sent.slice(1).map(({ ms }, at) => ms - (sent[at]?.ms ?? 0));
    expect(Math.max(...gaps.slice(50))).toBeLessThan(1_000);
  });
}

test("the rate holds when Redis loses everything", async () => {
  const sent = await simulateSharedPace({
    redis,
    service: "https://a.test/lost",
    rates: [{ count: 500, perMs: 1000 }],
    workers: [{}, {}, {}, {}],
    ms: 6_000,
    at: [2_000, 3_100, 4_300].map((ms) => ({ ms, act: () => server.command("FLUSHALL") })),
  });
  expect(mostInASecond(sent)).toBeLessThanOrEqual(525);
  expect(sent.length).toBeGreaterThan(500 * 5);
});
