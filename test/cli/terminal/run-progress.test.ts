import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { followRun, progressLine } from "../../../src/cli/terminal/run-progress.js";
import { Reporter } from "../../../src/cli/terminal/reporter.js";
import { aProgress } from "../../helpers/a-progress.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { FakeStream } from "../fake-context.js";

const progress = aProgress({
  rowsRead: 10,
  rowsWritten: 10,
  requests: 10,
  statuses: { complete: 10, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
  bytesRead: 100,
  bytesTotal: null,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(columns: number | null, shown = true, now = progress) {
  const stream = new FakeStream(columns);
  const reporter = new Reporter(stream);
  const controller = new AbortController();
  reporter.isQuiet = !shown;
  const reached = followRun(reporter, new ManualClock(), () => now, controller.signal, true);
  return { stream, reporter, reached, controller };
}

test("draws a line four times a second on a terminal", () => {
  const { stream } = start(80);
  vi.advanceTimersByTime(1000);
  expect(stream.text.split("10 rows").length - 1).toBe(4);
});

test("prints a line once a minute without a terminal", () => {
  const { stream } = start(null);
  vi.advanceTimersByTime(59_999);
  expect(stream.text).toBe("");
  vi.advanceTimersByTime(60_001);
  expect(stream.text).toBe("repute: 10 rows  0.0 requests/s  0.0 rows/s\n".repeat(2));
});

test("reports how far a run got, even after it has stopped", () => {
  const { reporter, reached } = start(null, true, { ...progress, bytesTotal: 1000 });
  reporter.follow(null);
  expect(reached()).toBe("10 rows written, 10% done");
});

test("removes the line for good once stopped", () => {
  const { stream, reporter } = start(80);
  vi.advanceTimersByTime(250);
  reporter.follow(null);
  const before = stream.text;
  vi.advanceTimersByTime(1000);
  expect(before.endsWith("\r\u001B[K")).toBe(true);
  expect(stream.text).toBe(before);
});

test("says how far a stopping run got and what it waits for, and shows what it reports last", () => {
  const now = { ...progress, bytesTotal: 1000 };
  const { stream, reached, controller } = start(80, true, now);
  controller.abort(new Error("stopped"));
  vi.advanceTimersByTime(250);
  expect(stream.text).toContain("10 rows written, 10% done  stopping: waiting");
  Object.assign(now, { rowsWritten: 14 });
  const told = reached();
  expect(told).toMatch(/^14 rows written, \d+% done$/);
  expect(stream.text.split("\r").at(-1)).toContain(`${told}  stopping`);
});

const speed: Parameters<typeof progressLine>[1] = {
  rowsPerSecond: 118,
  requestsPerSecond: 231.4,
  throttled: 0,
  share: 0.479,
  secondsLeft: 80,
};

const now = aProgress({
  rowsWritten: 12_345,
  statuses: { complete: 12_000, partial: 3, invalid: 0, unsupported: 340, failed: 2 },
  verdicts: { malicious: 310, suspicious: 44, listed: 120, none: 11_529, unknown: 342 },
});

describe("line", () => {
  test.each([
    [40, "  47% done  1 min 20 s left"],
    [80, "  2 failed  310 malicious  44 suspicious"],
    [120, "  231 requests/s  120 listed  3 partial"],
    [Number.POSITIVE_INFINITY, "  340 unsupported  118 rows/s"],
  ])("has the most important parts at %d columns, to %j", (width, end) => {
    const whole =
      "12,345 rows  47% done  1 min 20 s left  2 failed  310 malicious  44 suspicious  231 requests/s  120 listed  3 partial  340 unsupported  118 rows/s";
    expect(progressLine(now, speed, width)).toBe(whole.slice(0, whole.indexOf(end) + end.length));
  });

  test.each([
    [0.62, 49.2, "429: 62% of requests, next in 50 s"],
    [0.002, 0.3, "429: 1% of requests"],
    [0, 600, "next request in 10 min"],
  ])("says how much is throttled and when the run asks again", (throttled, pausedSeconds, text) => {
    const line = progressLine({ ...now, pausedSeconds }, { ...speed, throttled }, 160);
    expect(line).toContain(`left  ${text}  2 failed`);
  });

  test("has neither share nor time left if they are unknown", () => {
    const line = progressLine(now, { ...speed, share: null, secondsLeft: null }, 160);
    expect(line).not.toMatch(/%|left/);
  });
});
