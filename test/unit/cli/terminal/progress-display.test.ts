import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProgressDisplay } from "../../../../src/cli/terminal/progress-display.js";
import { Reporter } from "../../../../src/cli/terminal/reporter.js";
import type { RunProgress } from "../../../../src/pipeline/types.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { FakeStream } from "../fake-context.js";

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

function start(columns: number | null, drawn = true) {
  const stream = new FakeStream(columns);
  const reporter = new Reporter(stream);
  const display = new ProgressDisplay(reporter, new ManualClock());
  const controller = new AbortController();
  display.start(() => progress, controller.signal, drawn);
  return { stream, reporter, display, controller };
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

test("nothing is drawn where none is wanted", () => {
  const { stream } = start(80, false);
  vi.advanceTimersByTime(1000);
  expect(stream.text).toBe("");
});

test.each([80, null])("the status is the whole progress, drawn or not (width %s)", (columns) => {
  const { stream, reporter } = start(columns, false);
  reporter.printStatus();
  expect(stream.text).toBe("repute: 10 rows  0.0 rows/s  0.0 requests/s  complete 10\n");
});

test("has no progress once stopped", () => {
  const { stream, reporter, display } = start(null);
  display.stop();
  reporter.printStatus();
  expect(stream.text).toBe("repute: running, no progress yet\n");
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

test("a stopping run says what it waits for", () => {
  const { stream, controller } = start(80);
  controller.abort(new Error("stopped"));
  vi.advanceTimersByTime(250);
  expect(stream.text).toContain("stopping: waiting for open requests");
});
