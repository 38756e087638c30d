import { expect, test } from "vitest";
import {
  fixedWindow,
  type Second,
  simulatePace,
  slidingWindow,
  slowingDown,
  tokenBucket,
} from "../../helpers/pace-simulation.js";

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

test("a few throttle answers that no rate would avoid do not slow the run down", async () => {
  let count = 0;
  const seconds = await simulatePace(() => ({ afterMs: 40, throttled: ++count % 50 === 0 }), 30);
  expect(sum(seconds.slice(10), "accepted")).toBeGreaterThan(0.5 * 20 * 64 * 25);
});

test("a server that slows down is used to its full", async () => {
  const seconds = await simulatePace(slowingDown(150), 30);
  expect(used(seconds, 150, 10, 30)).toBeGreaterThanOrEqual(0.98);
});
