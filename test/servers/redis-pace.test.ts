import { afterAll, beforeAll, expect, test } from "vitest";
import { RedisLink } from "../../src/store/redis/redis-link.js";
import { RedisProbeLease } from "../../src/store/redis/redis-probe-lease.js";
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
        // Nothing is searched for as long as nothing is throttled.
        ms: 4_200,
      });
      expect(mostInASecond(sent)).toBeLessThanOrEqual(rate * 1.05);
      const steady = sent.filter(({ ms }) => ms >= 1_000 && ms < 4_000);
      expect(steady.length / 3).toBeGreaterThanOrEqual(0.97 * rate);
    });
  }
}

test("one process at a time probes a service, until it gives that up", async () => {
  const [first, second] = [1, 2].map(() => new RedisProbeLease(redis, "https://a.test/outage"));
  expect(await first!.take(60_000)).toBe(true);
  expect(await second!.take(60_000)).toBe(false);
  expect(await first!.take(60_000)).toBe(true);
  await second!.release();
  expect(await second!.take(60_000)).toBe(false);
  await first!.release();
  expect(await second!.take(60_000)).toBe(true);
  expect(await first!.take(60_000)).toBe(false);
});

/** Accepts so many requests in each second of its own clock. */
function fixedWindow(limit: number): (nowMs: number) => boolean {
  const counts = new Map<number, number>();
  return (nowMs) => {
    const second = Math.floor(nowMs / 1000);
    const count = (counts.get(second) ?? 0) + 1;
    counts.set(second, count);
    return count <= limit;
  };
}

/** Four workers at a service whose limit they don't know. */
function simulateThrottled(name: string, ms: number, limit: number, retryAfterMs: number | null) {
  const accepts = fixedWindow(limit);
  return simulateSharedPace({
    redis,
    service: `https://a.test/${name}`,
    rates: [{ count: 1_000, perMs: 1000 }],
    workers: Array.from({ length: 4 }, () => ({})),
    ms,
    answer: (nowMs) => ({ afterMs: 5, throttled: !accepts(nowMs), retryAfterMs }),
  });
}

test("a throttle answer at one worker holds all within 200 ms", async () => {
  const sent = await simulateThrottled("hold", 5_000, 300, 2_000);
  const first = sent.find(({ throttled }) => throttled)?.ms ?? 0;
  expect(first).toBeGreaterThan(0);
  // Two round trips, and what was under way.
  expect(sent.filter(({ ms }) => ms > first + 200 && ms < first + 2_000)).toEqual([]);
});

test("at most 2% of the requests are throttled once a limit was found, which is used", async () => {
  const sent = await simulateThrottled("found", 45_000, 300, null);
  const steady = sent.filter(({ ms }) => ms > 20_000);
  const throttled = steady.filter((request) => request.throttled).length;
  expect(throttled / steady.length).toBeLessThanOrEqual(0.02);
  expect(steady.length - throttled).toBeGreaterThan(0.8 * 300 * 25);
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
