import { describe, expect, test } from "vitest";
import { progressLine } from "../../../../src/cli/terminal/progress-display.js";
import { ProgressMeter } from "../../../../src/cli/terminal/progress-display.js";
import type { Speed } from "../../../../src/cli/terminal/progress-display.js";
import type { RunProgress } from "../../../../src/pipeline/types.js";

function progress(members: Partial<RunProgress> = {}): RunProgress {
  return {
    rowsRead: 0,
    rowsWritten: 0,
    requests: 0,
    statuses: { complete: 0, partial: 0, invalid: 0, unsupported: 0, failed: 0 },
    bytesRead: 0,
    bytesTotal: 1000,
    ...members,
  };
}

const speed: Speed = {
  rowsPerSecond: 118,
  requestsPerSecond: 231.4,
  share: 0.479,
  secondsLeft: 80,
};

describe("pace", () => {
  test("is what was done in the time that passed", () => {
    const meter = new ProgressMeter(progress(), 0);
    expect(meter.measure(progress({ rowsWritten: 30, requests: 60 }), 2000)).toMatchObject({
      rowsPerSecond: 15,
      requestsPerSecond: 30,
    });
  });

  test("ignores samples older than the window", () => {
    const meter = new ProgressMeter(progress(), 0);
    meter.measure(progress({ rowsWritten: 1000 }), 10_000);
    meter.measure(progress({ rowsWritten: 1000 }), 20_000);
    expect(meter.measure(progress({ rowsWritten: 1000 }), 31_000).rowsPerSecond).toBe(0);
  });

  test("does not count the rows that a resumed run has already", () => {
    const meter = new ProgressMeter(progress({ rowsWritten: 5000, rowsRead: 5000 }), 0);
    expect(meter.measure(progress({ rowsWritten: 5010 }), 1000).rowsPerSecond).toBe(10);
  });

  test("is nothing when no time has passed", () => {
    expect(new ProgressMeter(progress(), 0).measure(progress(), 0).rowsPerSecond).toBe(0);
  });
});

describe("share", () => {
  test("counts of the bytes that were read only the rows that are written", () => {
    const meter = new ProgressMeter(progress(), 0);
    const now = progress({ bytesRead: 1000, rowsRead: 200, rowsWritten: 50 });
    expect(meter.measure(now, 1000).share).toBe(0.25);
  });

  test("gives the time that is left", () => {
    const meter = new ProgressMeter(progress(), 0);
    const now = progress({ bytesRead: 250, rowsRead: 10, rowsWritten: 10 });
    expect(meter.measure(now, 2000).secondsLeft).toBe(6);
  });

  test("is unknown where the input's size is", () => {
    const now = progress({ bytesRead: 250, rowsRead: 10, rowsWritten: 10, bytesTotal: null });
    expect(new ProgressMeter(now, 0).measure(now, 1000)).toMatchObject({
      share: null,
      secondsLeft: null,
    });
  });

  test("shows no time left while nothing moves", () => {
    const meter = new ProgressMeter(progress(), 0);
    expect(meter.measure(progress(), 5000).secondsLeft).toBeNull();
  });
});

describe("line", () => {
  const now = progress({
    rowsWritten: 12_345,
    statuses: { complete: 12_000, partial: 3, invalid: 0, unsupported: 340, failed: 2 },
  });

  test("shows everything on a wide terminal", () => {
    expect(progressLine(now, speed, 160)).toBe(
      "12,345 rows  47%  118 rows/s  231 requests/s  complete 12,000, partial 3, unsupported 340, failed 2  1 min 20 s left",
    );
  });

  test.each([20, 40, 60, 80, 100])("is shorter than a terminal of %i columns", (width) => {
    expect(progressLine(now, speed, width).length).toBeLessThan(width);
  });

  test("keeps rows and share longest", () => {
    expect(progressLine(now, speed, 20)).toBe("12,345 rows  47%");
  });

  test("has neither share nor time left where they are unknown", () => {
    const line = progressLine(now, { ...speed, share: null, secondsLeft: null }, 160);
    expect(line).not.toMatch(/%|left/);
  });
});
