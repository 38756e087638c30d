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
