import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressDisplay } from "../../../src/cli/progress-display.js";
import { Reporter } from "../../../src/cli/reporter.js";
import type { RunProgress } from "../../../src/pipeline/types.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { FakeStream } from "./fake-context.js";

const progress: RunProgress = {
  rowsRead: 10,
  rowsWritten: 10,
  requests: 10,
  statuses: { complete: 10, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
  bytesRead: 100,
  bytesTotal: null,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start(columns: number | null) {
  const stream = new FakeStream(columns);
  const display = new ProgressDisplay(new Reporter(stream), new ManualClock());
  const controller = new AbortController();
  display.start(() => progress, controller.signal);
  return { stream, display, controller };
}

test("a line is drawn four times a second on a terminal", () => {
  const { stream } = start(80);
  vi.advanceTimersByTime(1000);
  expect(stream.text.split("10 rows").length - 1).toBe(4);
});

test("nothing is drawn where there is no terminal", () => {
  const { stream } = start(null);
  vi.advanceTimersByTime(1000);
  expect(stream.text).toBe("");
});

test("once stopped the line is gone and does not come back", () => {
  const { stream, display } = start(80);
  vi.advanceTimersByTime(250);
  display.stop();
  const before = stream.text;
  vi.advanceTimersByTime(1000);
  expect(before.endsWith("\r\u001B[K")).toBe(true);
  expect(stream.text).toBe(before);
});

test("a run that is told to stop says what it waits for", () => {
  const { stream, controller } = start(80);
  controller.abort(new Error("stopped"));
  vi.advanceTimersByTime(250);
  expect(stream.text).toContain("stopping: waiting for open requests");
});
