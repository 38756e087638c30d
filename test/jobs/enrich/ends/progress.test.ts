import fc from "fast-check";
import { expect, test } from "vitest";
import { percentOf, ProgressMeter } from "../../../../src/cli/terminal/progress-display.js";
import { aProgress } from "../../../helpers/a-progress.js";

const samples = fc.array(
  fc.record({
    elapsedMs: fc.nat(60_000),
    rowsRead: fc.nat(2000),
    rowsWritten: fc.nat(2000),
    bytesRead: fc.nat(1200),
    planned: fc.option(fc.nat(1000)),
    settled: fc.nat(1500),
  }),
);

test("the percentage stays between 0 and 100 and never goes backwards", () => {
  fc.assert(
    fc.property(samples, (steps) => {
      const meter = new ProgressMeter(aProgress(), 0);
      let now = 0;
      let before = 0;
      for (const { elapsedMs, planned, settled, ...members } of steps) {
        now += elapsedMs;
        const lookups = { planned, settled, requests: settled };
        const { share } = meter.measure(aProgress({ ...members, lookups }), now);
        const percent = share === null ? before : percentOf(share);
        expect(percent).toBeGreaterThanOrEqual(before);
        expect(percent).toBeLessThanOrEqual(100);
        before = percent;
      }
    }),
  );
});
