import { expect, test } from "vitest";
import { ConcurrencyNeed } from "../../../../src/lookup/pace/concurrency-need.js";
import { Spacing } from "../../../../src/lookup/pace/spacing.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

/** When each of so many that come at once is let go, in milliseconds. */
async function timesOf(count: number, spacingMs: number): Promise<number[]> {
  const clock = new ManualClock();
  const spacing = new Spacing({ spacingMs }, clock);
  const times: number[] = [];
  for (let n = 0; n < count; n++) spacing.pass(() => times.push(clock.monotonic()));
  for (let ms = 0; ms < 200; ms++) await clock.advance(1);
  return times;
}

test("what comes at once leaves bit by bit, and all of it", async () => {
  const times = await timesOf(256, 0.25);
  expect(times).toHaveLength(256);
  const last = times.at(-1) ?? 0;
  expect(last).toBeGreaterThan(55);
  expect(last).toBeLessThanOrEqual(64);
  for (let ms = 1; ms < last; ms++) {
    expect(times.filter((time) => time === ms).length).toBeLessThanOrEqual(4);
  }
});

test("a few leave at once", async () => {
  expect(await timesOf(16, 0.25)).toEqual(Array.from({ length: 16 }, () => 0));
});

test("without a distance nobody waits", async () => {
  expect((await timesOf(500, 0)).at(-1)).toBe(0);
});

test("who is let go may come back at once", async () => {
  const clock = new ManualClock();
  const spacing = new Spacing({ spacingMs: 1 }, clock);
  let passed = 0;
  const again = (): void => {
    if (++passed < 50) spacing.pass(again);
  };
  spacing.pass(again);
  for (let ms = 0; ms < 60; ms++) await clock.advance(1);
  expect(passed).toBe(50);
  expect(clock.pending).toBe(0);
});

test.each([
  { latencyMs: 5, distance: 0, what: "answers that come at once" },
  { latencyMs: 100, distance: 0.25, what: "slow answers: no more than a quarter of a millisecond" },
])("the distance for $what", ({ latencyMs, distance }) => {
  const need = new ConcurrencyNeed(256);
  for (let round = 0; round < 20; round++) {
    for (let n = 0; n < need.most; n++) need.sent();
    for (let n = need.most; n > 0; n--) {
      need.answered(round * latencyMs, (round + 1) * latencyMs);
    }
  }
  expect(need.spacingMs).toBe(distance);
});
