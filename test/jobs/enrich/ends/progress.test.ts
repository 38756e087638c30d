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
  }),
);

test("the percentage stays between 0 and 100 and never goes backwards", () => {
  fc.assert(
    fc.property(samples, (steps) => {
      const meter = new ProgressMeter(aProgress(), 0);
      let now = 0;
      let before = 0;
      for (const { elapsedMs, ...members } of steps) {
        now += elapsedMs;
        const { share } = meter.measure(aProgress(members), now);
        const percent = share === null ? before : percentOf(share);
        expect(percent).toBeGreaterThanOrEqual(before);
        expect(percent).toBeLessThanOrEqual(100);
        before = percent;
      }
    }),
  );
});
