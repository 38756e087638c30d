import { describe, expect, test } from "vitest";
import { progressLine } from "../../../../src/cli/terminal/progress-display.js";
import type { Speed } from "../../../../src/cli/terminal/progress-meter.js";
import { aProgress } from "../../../helpers/a-progress.js";

const speed: Speed = {
  rowsPerSecond: 118,
  requestsPerSecond: 231.4,
  throttled: 0,
  share: 0.479,
  secondsLeft: 80,
  stop: null,
};

const now = aProgress({
  rowsWritten: 12_345,
  statuses: { complete: 12_000, partial: 3, invalid: 0, unsupported: 340, failed: 2 },
  verdicts: { malicious: 310, suspicious: 44, listed: 120, none: 11_529, unknown: 342 },
});

describe("line", () => {
  test.each([40, 80, 120])("has the most important parts at %i columns", (width) => {
    expect(progressLine(now, speed, width)).toMatchSnapshot();
  });

  test.each([
    [0, "░░░░░░░░░░  0%"],
    [0.05, "░░░░░░░░░░  5%"],
    [0.999, "█████████░  99%"],
    [1, "██████████  100%"],
  ])("has a bar as long as the share (%d)", (share, bar) => {
    expect(progressLine(now, { ...speed, share }, 80)).toMatch(new RegExp(`^${bar}  `));
  });

  test("has every part and no bar without a width", () => {
    expect(progressLine(now, speed, Number.POSITIVE_INFINITY)).toBe(
      "47%  12,345 rows  1 min 20 s left  2 failed  310 malicious  44 suspicious  120 listed  3 partial  340 unsupported  231 requests/s  118 rows/s",
    );
  });

  test("is shorter than the terminal at every width", () => {
    for (let width = 1; width < 200; width++) {
      expect(progressLine(now, speed, width).length).toBeLessThan(width);
    }
  });

  test("keeps rows and share longest", () => {
    expect(progressLine(now, speed, 20)).toBe("47%  12,345 rows");
  });

  test.each([
    [{ seconds: 90, at: null, share: 0.4 }, "stops in 1 min 30 s, at about 40%"],
    [{ seconds: 90, at: "05:30", share: 0.4 }, "stops at 05:30, at about 40%"],
    [{ seconds: 90, at: "05:30", share: null }, "stops at 05:30"],
  ])("says when the run stops early", (stop, text) => {
    const line = progressLine(now, { ...speed, stop }, 160);
    expect(line).toContain(`  ${text}  `);
    expect(line).not.toContain("left");
  });

  test.each([
    [0.62, 49.2, "429: 62% of requests, next in 50 s"],
    [0.002, 0.3, "429: 1% of requests"],
    [0, 600, "next request in 10 min 0 s"],
  ])("says how much is throttled and when the run asks again", (throttled, pausedSeconds, text) => {
    const line = progressLine({ ...now, pausedSeconds }, { ...speed, throttled }, 160);
    expect(line).toContain(`left  ${text}  2 failed`);
  });

  test("has no colour", () => {
    expect(progressLine(now, speed, 200)).not.toContain("\u001B");
  });

  test("has neither bar nor share nor time left if they are unknown", () => {
    const line = progressLine(now, { ...speed, share: null, secondsLeft: null }, 160);
    expect(line).not.toMatch(/[%█░]|left/);
  });
});
