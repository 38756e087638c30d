import { expect, test } from "vitest";
import {
  ill,
  simulatePace,
  sum,
  throttledShare,
  tokenBucket,
  used,
  withoutLimit,
} from "../../helpers/pace-simulation.js";

test.each([
  [20, 0.3, [4, 5, 6]],
  [50, 0.3, [5]],
  [20, 0.1, [5]],
])("finds a limit of %i/s that replaces noise (%f)", async (limit, noise, seeds) => {
  let [accepted, throttled, sent] = [0, 0, 0];
  for (const seed of seeds) {
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
  // With few requests, one unlucky trial is 1% of them, so several runs count there.
  expect(accepted / (seeds.length * 90 * limit)).toBeGreaterThanOrEqual(0.9);
  expect(throttled / sent).toBeLessThanOrEqual(0.08);
});

/** What 64 open requests get from a service that answers after 40 ms. */
const possible = 64 * 25;

test.each([
  [0.01, 0.9],
  [0.03, 0.75],
  [0.08, 0.45],
])(
  "when %f of all answers are throttled at any rate, %f of the rate remains",
  async (share, least) => {
    let accepted = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const seconds = await simulatePace(
        ill(withoutLimit(), () => share, seed),
        60,
      );
      accepted += sum(seconds.slice(15), "accepted");
    }
    // An unlucky trial slows a run for up to a minute, so no single run counts.
    expect(accepted).toBeGreaterThan(least * 8 * 45 * possible);
  },
  60_000,
);

test.each([1, 2, 3])("intermittent noise (%i) costs little", async (seed) => {
  const noisy = (now: number): number => (now > 20_000 && now < 50_000 ? 0.03 : 0);
  const seconds = await simulatePace(ill(withoutLimit(), noisy, seed), 80);
  expect(sum(seconds.slice(10), "accepted")).toBeGreaterThan(0.85 * 70 * possible);
  expect(sum(seconds.slice(60), "accepted")).toBeGreaterThan(0.98 * 20 * possible);
});

test.each([1, 2, 3])("finds a limit among noise as well (%i)", async (seed) => {
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
