import { describe, expect, test } from "vitest";
import { ProgressMeter } from "../../../src/cli/terminal/progress-display.js";
import type { RunProgress } from "../../../src/jobs/enrich/types.js";
import { aProgress } from "../../helpers/a-progress.js";

function meterFrom(members: Partial<RunProgress> = {}): ProgressMeter {
  return new ProgressMeter(aProgress(members), 0);
}

describe("pace", () => {
  test("is the work done in the elapsed time", () => {
    expect(meterFrom().measure(aProgress({ rowsWritten: 30, requests: 60 }), 2000)).toMatchObject({
      rowsPerSecond: 15,
      requestsPerSecond: 30,
    });
  });

  test("ignores samples older than the window", () => {
    const meter = meterFrom();
    meter.measure(aProgress({ rowsWritten: 1000 }), 60_000);
    meter.measure(aProgress({ rowsWritten: 1000 }), 120_000);
    expect(meter.measure(aProgress({ rowsWritten: 1000 }), 181_000).rowsPerSecond).toBe(0);
  });

  test("does not count the rows that a resumed run already has", () => {
    const meter = meterFrom({ rowsWritten: 5000, rowsRead: 5000 });
    expect(meter.measure(aProgress({ rowsWritten: 5010 }), 1000).rowsPerSecond).toBe(10);
  });

  test("has the share of throttled requests within the window", () => {
    const meter = meterFrom({ requests: 50, throttled: 50 });
    meter.measure(aProgress({ requests: 100, throttled: 100 }), 1000);
    expect(meter.measure(aProgress({ requests: 200, throttled: 162 }), 61_000).throttled).toBe(
      0.62,
    );
  });
});

describe("with the number of lookups", () => {
  const lookups = { planned: 1000, settled: 100, requests: 110 };

  test("the time left is that of the remaining requests, retries included", () => {
    const now = aProgress({ requests: 110, lookups });
    expect(meterFrom().measure(now, 10_000).secondsLeft).toBeCloseTo((900 * 1.1) / 11);
  });

  test("tells no time left while the service is away", () => {
    const now = aProgress({ requests: 110, lookups, isAway: true });
    expect(meterFrom().measure(now, 10_000).secondsLeft).toBeNull();
  });

  test("assumes no pace above the configured rate", () => {
    const now = aProgress({ requests: 110, lookups, maxPerSecond: 10 });
    expect(meterFrom().measure(now, 3000).secondsLeft).toBeCloseTo((900 * 1.1) / 10);
  });

  test("forgets a pause sooner than the pace does", () => {
    const meter = meterFrom();
    meter.measure(aProgress({ lookups }), 10_000);
    const now = aProgress({ requests: 110, lookups });
    expect(meter.measure(now, 20_000)).toMatchObject({
      requestsPerSecond: 5.5,
      secondsLeft: (900 * 1.1) / 11,
    });
  });

  test("a resumed run continues at the share it had reached", () => {
    const before = { requests: 550, lookups: { planned: 1000, settled: 500, requests: 550 } };
    expect(meterFrom(before).measure(aProgress(before), 0).share).toBe(0.5);
  });

  test("stays below 100 percent while rows are left to write", () => {
    const now = aProgress({ lookups: { planned: 10, settled: 10, requests: 10 } });
    expect(meterFrom().measure(now, 1000).share).toBe(0.99);
  });
});

describe("while a service is unavailable now and then", () => {
  const lookups = { planned: 10_000, settled: 1000, requests: 1000 };
  const slow = { requests: 1000, lookups, maxPerSecond: 100 };

  test("expects its pauses to pass", () => {
    // 30 s at 33.3 a second, and the weight of 120 s at 100.
    const pace = (1000 + 120 * 100) / 150;
    const now = aProgress({ ...slow, throttling: "unclear" });
    const { secondsLeft } = meterFrom().measure(now, 30_000);
    expect(secondsLeft).toBeCloseTo(9000 / pace);
  });

  test("expects the best recent pace once the run has found a limit", () => {
    const meter = meterFrom();
    const at = (seconds: number, requests: number) =>
      meter.measure(aProgress({ ...slow, requests, throttling: "found" }), seconds * 1000);
    // A burst, a pause, the limit, and a trial at half of it.
    for (const [seconds, requests] of [
      [0, 0],
      [5, 450],
      [20, 450],
      [25, 650],
    ] as const) {
      at(seconds, requests);
    }
    at(40, 1250);
    // 45 s at 30 a second, and the weight of 120 s at 40.
    const pace = (1350 + 120 * 40) / 165;
    expect(at(45, 1350).secondsLeft).toBeCloseTo(9000 / pace);
  });
});

describe("an early end", () => {
  const lookups = { planned: 1000, settled: 100, requests: 100 };
  const stopOf = (ends: Partial<RunProgress["ends"]>) => {
    const now = aProgress({ requests: 100, lookups, ends: { ...aProgress().ends, ...ends } });
    return meterFrom().measure(now, 10_000).stop;
  };

  test("is that of a budget or quota that the rest exceeds", () => {
    expect(stopOf({ requests: 450 })).toEqual({ seconds: 45, at: null, share: 0.55 });
  });

  test("is that of a deadline before the last row", () => {
    expect(stopOf({ seconds: 30, at: "05:30", requests: 450 })).toEqual({
      seconds: 30,
      at: "05:30",
      share: 0.1 + 0.9 / 3,
    });
  });

  test("is none if the run is done before", () => {
    expect(stopOf({ seconds: 91, at: "05:30", requests: 901 })).toBeNull();
  });
});

describe("without it", () => {
  test("counts only the written rows of the bytes read", () => {
    const now = aProgress({ bytesRead: 1000, rowsRead: 200, rowsWritten: 50 });
    expect(meterFrom().measure(now, 1000).share).toBe(0.25);
  });

  test("extrapolates the time left from the bytes", () => {
    const now = aProgress({ bytesRead: 250, rowsRead: 10, rowsWritten: 10 });
    expect(meterFrom().measure(now, 4000).secondsLeft).toBe(12);
  });

  test("shows no time left in the first three seconds", () => {
    const now = aProgress({ bytesRead: 250, rowsRead: 10, rowsWritten: 10 });
    expect(meterFrom().measure(now, 2999).secondsLeft).toBeNull();
  });

  test("shows no time left in the first half minute of a run that is throttled", () => {
    const now = aProgress({ bytesRead: 250, rowsRead: 10, rowsWritten: 10, throttled: 1 });
    expect(meterFrom().measure(now, 29_999).secondsLeft).toBeNull();
    expect(meterFrom().measure(now, 30_000).secondsLeft).toBe(90);
  });

  test("shows no time left while most rows wait for the one before them", () => {
    const now = aProgress({ bytesRead: 1000, rowsRead: 600, rowsWritten: 3 });
    expect(meterFrom().measure(now, 40_000).secondsLeft).toBeNull();
  });
});
