import { expect, test } from "vitest";
import {
  fixedWindow,
  ill,
  type Second,
  simulatePace,
  slidingWindow,
  slowingDown,
  tokenBucket,
  withoutLimit,
} from "../../../helpers/pace-simulation.js";

function sum(seconds: readonly Second[], what: keyof Second): number {
  return seconds.reduce((total, second) => total + second[what], 0);
}

/** Share of a limit that was used from second `from` to second `to`. */
function used(seconds: readonly Second[], limit: number, from: number, to: number): number {
  return sum(seconds.slice(from, to), "accepted") / (limit * (to - from));
}

function throttledShare(seconds: readonly Second[]): number {
  return sum(seconds, "throttled") / sum(seconds, "sent");
}

const servers = {
  "a token bucket": () => tokenBucket(() => 150),
  "a very small token bucket": () => tokenBucket(() => 150, 5),
  "a fixed window": () => fixedWindow(150),
  "a sliding window": () => slidingWindow(150),
};

test.each(Object.entries(servers))("%s of 150/s is found and used", async (_, server) => {
  const seconds = await simulatePace(server(), 60);
  expect(used(seconds, 150, 10, 60)).toBeGreaterThanOrEqual(0.9);
});

test.each(Object.entries(servers))("%s throttles few requests", async (_, server) => {
  const seconds = await simulatePace(server(), 60);
  expect(throttledShare(seconds)).toBeLessThanOrEqual(0.05);
});

test.each([
  ["halves", 75],
  ["doubles", 300],
])("a limit that %s midway is found again within 15 seconds", async (_, later) => {
  const seconds = await simulatePace(
    tokenBucket((now) => (now < 40_000 ? 150 : later)),
    80,
  );
  expect(used(seconds, later, 55, 80)).toBeGreaterThanOrEqual(0.9);
  expect(throttledShare(seconds)).toBeLessThanOrEqual(0.05);
});

test.each([60, 30, 10])(
  "a limit that falls from 150/s to %i/s is not taken for noise",
  async (later) => {
    const seconds = await simulatePace(
      tokenBucket((now) => (now < 40_000 ? 150 : later)),
      80,
    );
    expect(used(seconds, later, 50, 80)).toBeGreaterThanOrEqual(0.75);
    expect(throttledShare(seconds.slice(50))).toBeLessThanOrEqual(0.25);
  },
);

test.each([
  [20, 0.3],
  [50, 0.3],
  [20, 0.1],
])("a limit of %i/s that takes the place of noise (%f) is found", async (limit, noise) => {
  let [accepted, throttled, sent] = [0, 0, 0];
  for (const seed of [4, 5, 6]) {
    const server = ill(
      tokenBucket((now) => (now < 40_000 ? 100_000 : limit)),
      (now) => (now < 40_000 ? noise : 0),
      seed,
    );
    const seconds = (await simulatePace(server, 200)).slice(110);
    accepted += sum(seconds, "accepted");
    throttled += sum(seconds, "throttled");
    sent += sum(seconds, "sent");
  }
  // Where a trial is wrong by chance more is throttled for a while, so no single run counts.
  expect(accepted / (3 * 90 * limit)).toBeGreaterThanOrEqual(0.9);
  expect(throttled / sent).toBeLessThanOrEqual(0.08);
});

test("a time in which everything is throttled is no reason for a trial", async () => {
  const outage = await simulatePace(
    (now) => ({ afterMs: 40, throttled: now > 20_000 && now < 50_000 }),
    100,
  );
  expect(sum(outage.slice(70, 80), "accepted")).toBeGreaterThan(10_000);
});

/** What 64 open requests get of a service that answers after 40 ms. */
const possible = 64 * 25;

test.each([
  [0.01, 0.9],
  [0.03, 0.75],
  [0.08, 0.45],
])(
  "%f of the answers throttled whatever the rate leave %f of it",
  async (share, least) => {
    let accepted = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const seconds = await simulatePace(
        ill(withoutLimit(), () => share, seed),
        60,
      );
      accepted += sum(seconds.slice(15), "accepted");
    }
    // Where a trial is wrong by chance a run is slow for up to a minute, so no single one counts.
    expect(accepted).toBeGreaterThan(least * 8 * 45 * possible);
  },
  60_000,
);

test.each([1, 2, 3])("noise that comes and goes (%i) costs little", async (seed) => {
  const noisy = (now: number): number => (now > 20_000 && now < 50_000 ? 0.03 : 0);
  const seconds = await simulatePace(ill(withoutLimit(), noisy, seed), 80);
  expect(sum(seconds.slice(10), "accepted")).toBeGreaterThan(0.85 * 70 * possible);
  expect(sum(seconds.slice(60), "accepted")).toBeGreaterThan(0.98 * 20 * possible);
});

test.each([1, 2, 3])("a limit is found among noise as well (%i)", async (seed) => {
  const seconds = await simulatePace(
    ill(
      tokenBucket(() => 150),
      () => 0.03,
      seed,
    ),
    80,
  );
  expect(used(seconds, 150, 20, 80)).toBeGreaterThanOrEqual(0.4);
  expect(throttledShare(seconds)).toBeLessThanOrEqual(0.15);
});

test("a few throttle answers that no rate would avoid do not slow the run down", async () => {
  let count = 0;
  const seconds = await simulatePace(() => ({ afterMs: 40, throttled: ++count % 50 === 0 }), 30);
  expect(sum(seconds.slice(10), "accepted")).toBeGreaterThan(0.5 * 20 * 64 * 25);
});

test("a server that slows down is used to its full", async () => {
  const seconds = await simulatePace(slowingDown(150), 30);
  expect(used(seconds, 150, 10, 30)).toBeGreaterThanOrEqual(0.98);
});
