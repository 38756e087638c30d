import { expect, test } from "vitest";
import {
  askingToWait,
  fixedWindow,
  ill,
  simulatePace,
  slidingWindow,
  slowingDown,
  sum,
  throttledShare,
  tokenBucket,
  used,
} from "../../helpers/pace-simulation.js";

const servers = {
  "a token bucket": () => tokenBucket(() => 150),
  "a very small token bucket": () => tokenBucket(() => 150, 5),
  "a fixed window": () => fixedWindow(150),
  "a sliding window": () => slidingWindow(150),
};

test.each(Object.entries(servers))(
  "%s of 150/s is found and used, and throttles few requests",
  async (_, server) => {
    const seconds = await simulatePace(server(), 60);
    expect(used(seconds, 150, 10, 60)).toBeGreaterThanOrEqual(0.85);
    expect(throttledShare(seconds)).toBeLessThanOrEqual(0.04);
    expect(throttledShare(seconds.slice(20))).toBeLessThanOrEqual(0.02);
  },
);

test.each([
  [20, 0.03, 20],
  [50, 0.02, 25],
  [150, 0.02, 32],
  [300, 0.02, 35],
  [1_000, 0.02, 70],
])("a limit of %i/s that admits no two requests at once is found", async (...row) => {
  const [limit, share, most] = row;
  const seconds = await simulatePace(
    tokenBucket(() => limit, 1),
    60,
  );
  expect(seconds[0]!.throttled).toBeLessThan(8);
  expect(sum(seconds.slice(0, 10), "throttled")).toBeLessThanOrEqual(most);
  expect(used(seconds, limit, 10, 60)).toBeGreaterThanOrEqual(0.85);
  expect(throttledShare(seconds.slice(10))).toBeLessThanOrEqual(share);
});

test.each([
  [20, 0.4, 0, 0.85, 0.03],
  [50, 0.4, 0, 0.85, 0.02],
  [150, 0.4, 0, 0.85, 0.02],
  [300, 0.4, 0, 0.8, 0.02],
  // Even if the limit were known, 3% would arrive too early at 0.77 of it.
  [1_000, 0.4, 0, 0.6, 0.03],
  // Of what is sent while the machine stands still, all but one request is refused.
  [20, 0, 60, 0.8, 0.05],
  [150, 0, 60, 0.8, 0.05],
  [300, 0, 60, 0.8, 0.05],
  [1_000, 0, 60, 0.8, 0.05],
])(
  "so is one of %i/s when they arrive up to %f ms late, and %i ms once a second",
  async (limit, shiftMs, stallMs, least, throttled) => {
    const server = tokenBucket(() => limit, 1);
    const seconds = await simulatePace(server, 60, { shiftMs, stallMs });
    expect(used(seconds, limit, 10, 60)).toBeGreaterThanOrEqual(least);
    expect(throttledShare(seconds.slice(10))).toBeLessThanOrEqual(throttled);
  },
);

test.each([
  [50, 0],
  [150, 0],
  [150, 15],
  [300, 150],
])(
  "of a limit of %i/s with a bucket of %i, most is used although 3%% are throttled at any rate",
  async (limit, bucket) => {
    let [share, throttled] = [0, 0];
    for (const seed of [1, 2, 3]) {
      const server = ill(
        tokenBucket(() => limit, Math.max(1, bucket)),
        () => 0.03,
        seed,
      );
      const seconds = await simulatePace(server, 40, { seed });
      share += used(seconds, limit, 10, 40) / 3;
      throttled += throttledShare(seconds.slice(10)) / 3;
    }
    expect(share).toBeGreaterThanOrEqual(0.8);
    expect(throttled).toBeLessThanOrEqual(0.06);
  },
);

test.each(Object.entries(servers))(
  "%s of 150/s that asks for a wait of a second is found and used",
  async (_, server) => {
    const seconds = await simulatePace(askingToWait(server(), 1_000), 60);
    expect(used(seconds, 150, 15, 60)).toBeGreaterThanOrEqual(0.85);
    expect(throttledShare(seconds)).toBeLessThanOrEqual(0.02);
  },
);

test("finds a limit whose throttle answers ask for a wait of a minute", async () => {
  const seconds = await simulatePace(askingToWait(fixedWindow(20), 60_000), 1_800);
  expect(used(seconds, 20, 600, 1_800)).toBeGreaterThanOrEqual(0.7);
  expect(throttledShare(seconds)).toBeLessThanOrEqual(0.02);
});

/** What comes of a limit of 150/s that becomes another one after 40 s. */
function changing(later: number) {
  return simulatePace(
    tokenBucket((now) => (now < 40_000 ? 150 : later)),
    80,
  );
}

test.each([75, 300])("finds a limit of %i/s within 15 seconds that was 150/s", async (later) => {
  const seconds = await changing(later);
  expect(used(seconds, later, 55, 80)).toBeGreaterThanOrEqual(0.9);
  expect(throttledShare(seconds)).toBeLessThanOrEqual(0.05);
});

test.each([60, 30, 10])("does not mistake a fall from 150/s to %i/s for noise", async (later) => {
  const seconds = await changing(later);
  expect(used(seconds, later, 50, 80)).toBeGreaterThanOrEqual(0.75);
  expect(throttledShare(seconds.slice(50))).toBeLessThanOrEqual(0.25);
});

test("starts no trial because of a time in which everything is throttled", async () => {
  const outage = await simulatePace(
    (now) => ({ afterMs: 40, throttled: now > 20_000 && now < 50_000 }),
    100,
  );
  expect(sum(outage.slice(70, 80), "accepted")).toBeGreaterThan(10_000);
});

test("does not slow down for a few throttle answers that no rate would avoid", async () => {
  let count = 0;
  const seconds = await simulatePace(() => ({ afterMs: 40, throttled: ++count % 50 === 0 }), 30);
  expect(sum(seconds.slice(10), "accepted")).toBeGreaterThan(0.5 * 20 * 64 * 25);
});

test("uses a server that slows down to its full capacity", async () => {
  const seconds = await simulatePace(slowingDown(150), 30);
  expect(used(seconds, 150, 10, 30)).toBeGreaterThanOrEqual(0.98);
});
