import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { percentOf, progressMeter } from "../../../src/cli/terminal/run-progress.js";
import type { RunProgress } from "../../../src/jobs/enrich/tally.js";
import { aProgress } from "../../helpers/a-progress.js";

function meterFrom(members: Partial<RunProgress> = {}): ReturnType<typeof progressMeter> {
  return progressMeter(aProgress(members), 0);
}

describe("pace", () => {
  test("is the work done in the elapsed time", () => {
    expect(meterFrom()(aProgress({ rowsWritten: 30, requests: 60 }), 2000)).toMatchObject({
      rowsPerSecond: 15,
      requestsPerSecond: 30,
    });
  });

  test("ignores samples older than the window", () => {
    const meter = meterFrom();
    meter(aProgress({ rowsWritten: 1000 }), 60_000);
    meter(aProgress({ rowsWritten: 1000 }), 120_000);
    expect(meter(aProgress({ rowsWritten: 1000 }), 181_000).rowsPerSecond).toBe(0);
  });

  test("does not count the rows that a resumed run already has", () => {
    const meter = meterFrom({ rowsWritten: 5000, rowsRead: 5000 });
    expect(meter(aProgress({ rowsWritten: 5010 }), 1000).rowsPerSecond).toBe(10);
  });

  test("has the share of throttled requests within the window", () => {
    const meter = meterFrom({ requests: 50, throttled: 50 });
    meter(aProgress({ requests: 100, throttled: 100 }), 1000);
    expect(meter(aProgress({ requests: 200, throttled: 162 }), 61_000).throttled).toBe(0.62);
  });
});

describe("share and time left", () => {
  test("counts only the written rows of the bytes read", () => {
    const now = aProgress({ bytesRead: 1000, rowsRead: 200, rowsWritten: 50 });
    expect(meterFrom()(now, 1000).share).toBe(0.25);
  });

  const written = { bytesRead: 250, rowsRead: 10, rowsWritten: 10 };

  test.each([
    ["extrapolated from the bytes", written, 4000, 12],
    ["unknown in the first three seconds", written, 2999, null],
    ["unknown in the first half minute with 429", { ...written, throttled: 1 }, 29_999, null],
    ["known after half a minute with 429", { ...written, throttled: 1 }, 30_000, 90],
    ["unknown while the service is away", { ...written, isAway: true }, 4000, null],
    [
      "unknown while most rows wait for the one before them",
      { bytesRead: 1000, rowsRead: 600, rowsWritten: 3 },
      40_000,
      null,
    ],
  ])("the time left is %s", (_, members, ms, seconds) => {
    expect(meterFrom()(aProgress(members), ms).secondsLeft).toBe(seconds);
  });
});

const samples = fc.array(
  fc.record({
    elapsedMs: fc.nat(60_000),
    rowsRead: fc.nat(2000),
    rowsWritten: fc.nat(2000),
    bytesRead: fc.nat(1200),
  }),
);

test("the percentage stays between 0 and 100 and never goes backwards", () => {
  fc.assert(
    fc.property(samples, (steps) => {
      const meter = progressMeter(aProgress(), 0);
      let now = 0;
      let before = 0;
      for (const { elapsedMs, ...members } of steps) {
        now += elapsedMs;
        const { share } = meter(aProgress(members), now);
        const percent = share === null ? before : percentOf(share);
        expect(percent).toBeGreaterThanOrEqual(before);
        expect(percent).toBeLessThanOrEqual(100);
        before = percent;
      }
    }),
  );
});
