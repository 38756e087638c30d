import { expect, test } from "vitest";
import { ThrottleNoise, type Verdict } from "../../../../src/lookup/pace/throttle-pauses.js";

/** Hands over answers, `t` throttled and `.` not, until there is a verdict. */
function answers(noise: ThrottleNoise, pattern: string, now = 0): Verdict {
  for (const answer of pattern) {
    const verdict = noise.answered(now, answer === "t");
    if (verdict !== "open") return verdict;
  }
  return "open";
}

test("a few throttle answers among many at a low rate are noise", () => {
  const noise = new ThrottleNoise();
  expect(noise.try(0)).toBe(true);
  expect(answers(noise, `${".".repeat(20)}t${".".repeat(20)}t${".".repeat(20)}t`)).toBe("noise");
  expect(noise.known).toBe(true);
  expect(noise.expected(1_000)).toBeGreaterThan(45);
});

test("none among many is none", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  expect(answers(noise, ".".repeat(100))).toBe("none");
  expect(noise.known).toBe(false);
  expect(noise.expected(1_000)).toBe(0);
});

test("one window that is used up counts once", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  expect(answers(noise, `${"t".repeat(50)}.${"t".repeat(50)}${".".repeat(20)}`)).toBe("open");
  expect(answers(noise, ".".repeat(200))).toBe("none");
});

test("nothing is noted outside of a trial", () => {
  const noise = new ThrottleNoise();
  expect(answers(noise, ".t".repeat(100))).toBe("open");
  expect(noise.known).toBe(false);
});

test("a trial that found none is not repeated for a while, and longer each time", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, ".".repeat(100));
  expect(noise.try(9_999)).toBe(false);
  expect(noise.try(10_000)).toBe(true);
  answers(noise, ".".repeat(100), 10_000);
  expect(noise.try(29_999)).toBe(false);
  expect(noise.try(30_000)).toBe(true);
});

test("a trial that was interrupted goes on with what it found, one that was abandoned begins anew", () => {
  const [interrupted, abandoned] = [new ThrottleNoise(), new ThrottleNoise()];
  for (const noise of [interrupted, abandoned]) {
    noise.try(0);
    expect(answers(noise, ".".repeat(70))).toBe("open");
  }
  interrupted.interrupt(0);
  expect(interrupted.try(9_999)).toBe(false);
  expect(interrupted.try(10_000)).toBe(true);
  expect(answers(interrupted, ".".repeat(20))).toBe("none");
  abandoned.abandon();
  expect(abandoned.try(0)).toBe(true);
  expect(answers(abandoned, ".".repeat(20))).toBe("open");
});

test("what a trial finds that is known is not found again", () => {
  const noise = new ThrottleNoise();
  const some = `${".".repeat(25)}t`.repeat(4);
  noise.try(0);
  expect(answers(noise, some)).toBe("noise");
  expect(noise.try(0)).toBe(true);
  expect(answers(noise, some)).toBe("none");
  expect(noise.known).toBe(true);
});

test("a trial that finds less than is known lowers it, and is soon repeated", () => {
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

test("noise that is gone is forgotten with the answers that show it", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, `${".".repeat(20)}t`.repeat(4));
  for (let second = 0; second < 5; second++) noise.atMost(0, 1_000);
  expect(noise.known).toBe(false);
});

test("more throttle answers than noise explains do not count for more noise", () => {
  const noise = new ThrottleNoise();
  noise.try(0);
  answers(noise, `${".".repeat(20)}t`.repeat(4));
  const before = noise.expected(1_000);
  noise.atMost(500, 1_000);
  expect(noise.expected(1_000)).toBe(before);
});
