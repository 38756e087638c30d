import { expect, test } from "vitest";
import { ThrottleNoise, type TrialResult } from "../../../../src/lookup/pace/throttle-pauses.js";

/** Reports answers, `t` throttled and `.` accepted, until there is a verdict. */
function answers(noise: ThrottleNoise, pattern: string, now = 0): TrialResult {
  for (const answer of pattern) {
    const verdict = noise.answered(now, answer === "t");
    if (verdict !== "open") return verdict;
  }
  return "open";
}

test("takes a few throttle answers among many at a low rate for noise", () => {
  const noise = new ThrottleNoise();
  expect(noise.try(0)).toBe(true);
  expect(answers(noise, `${".".repeat(20)}t${".".repeat(20)}t${".".repeat(20)}t`)).toBe("noise");
  expect(noise.known).toBe(true);
  expect(noise.expected(1_000)).toBeGreaterThan(45);
});

test("finds no noise in none among many", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  expect(answers(noise, ".".repeat(100))).toBe("none");
  expect(noise.known).toBe(false);
  expect(noise.expected(1_000)).toBe(0);
});

test("knows for a while that there is no noise", () => {
  const noise = new ThrottleNoise();
  expect(noise.absentAt(0)).toBe(false);
  noise.try(0);
  expect(noise.absentAt(0)).toBe(false);
  answers(noise, ".".repeat(100));
  expect([noise.absentAt(9_999), noise.absentAt(10_000)]).toEqual([true, false]);
  noise.try(10_000);
  answers(noise, ".........t".repeat(30), 10_000);
  expect(noise.absentAt(10_001)).toBe(false);
});

test("counts one exhausted window once", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  expect(answers(noise, `${"t".repeat(50)}.${"t".repeat(50)}${".".repeat(20)}`)).toBe("open");
  expect(answers(noise, ".".repeat(200))).toBe("none");
});

test("counts nothing outside a trial", () => {
  const noise = new ThrottleNoise();
  expect(answers(noise, ".t".repeat(100))).toBe("open");
  expect(noise.known).toBe(false);
});

test("waits ever longer to repeat a trial that found nothing", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, ".".repeat(100));
  expect(noise.try(9_999)).toBe(false);
  expect(noise.try(10_000)).toBe(true);
  answers(noise, ".".repeat(100), 10_000);
  expect(noise.try(29_999)).toBe(false);
  expect(noise.try(30_000)).toBe(true);
});

test("rules noise out after two trials in a row that found none", () => {
  const noise = new ThrottleNoise();
  const ruledOut = [0, 10_000, 40_000].map((now, at) => {
    noise.try(now);
    answers(noise, at < 2 ? ".".repeat(100) : ".t".repeat(10), now);
    return noise.ruledOut;
  });
  expect(ruledOut).toEqual([false, true, false]);
});

test("continues after an interrupted trial, and starts over after an abandoned one", () => {
  const [interrupted, abandoned] = [new ThrottleNoise(), new ThrottleNoise()];
  for (const noise of [interrupted, abandoned]) {
    noise.try(0);
    expect(answers(noise, ".".repeat(70))).toBe("open");
  }
  interrupted.interrupt(0);
  expect(interrupted.try(999)).toBe(false);
  expect(interrupted.try(1_000)).toBe(true);
  expect(answers(interrupted, ".".repeat(20))).toBe("none");
  abandoned.abandon();
  expect(abandoned.try(0)).toBe(true);
  expect(answers(abandoned, ".".repeat(20))).toBe("open");
});

test("does not find known noise again", () => {
  const noise = new ThrottleNoise();
  const some = `${".".repeat(25)}t`.repeat(4);
  noise.try(0);
  expect(answers(noise, some)).toBe("noise");
  expect(noise.try(0)).toBe(true);
  expect(answers(noise, some)).toBe("none");
  expect(noise.known).toBe(true);
});

test("lowers the known noise if a trial finds less, and soon repeats it", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  expect(answers(noise, ".t".repeat(4))).toBe("noise");
  const before = noise.expected(1_000);
  noise.try(0);
  expect(answers(noise, `${".".repeat(25)}t`.repeat(4))).toBe("none");
  expect(noise.expected(1_000)).toBeLessThan(before / 3);
  expect(noise.known).toBe(true);
  expect(noise.try(10_000)).toBe(true);
});

test("forgets noise that is gone", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, `${".".repeat(20)}t`.repeat(4));
  for (let second = 0; second < 5; second++) noise.atMost(0, 1_000);
  expect(noise.known).toBe(false);
});

test("does not raise the noise for throttle answers that it doesn't explain", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, `${".".repeat(20)}t`.repeat(4));
  const before = noise.expected(1_000);
  noise.atMost(500, 1_000);
  expect(noise.expected(1_000)).toBe(before);
});
