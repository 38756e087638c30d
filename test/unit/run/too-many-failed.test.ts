import { expect, it } from "vitest";
import { maxFailed, tooManyFailed } from "../../../src/run/failure-limits.js";
import { Tally, type TallySnapshot } from "../../../src/run/tally.js";

/** Counts for this many looked-up addresses, and for lines that could not be read. */
function counts(ips: number, failed: number, unreadable = 0): TallySnapshot {
  const none = new Tally().snapshot();
  return {
    ...none,
    rows: ips + unreadable,
    kinds: { ...none.kinds, ip: ips },
    statuses: { ...none.statuses, complete: ips - failed, failed: failed + unreadable },
    errors: { timeout: failed, input_row: unreadable },
  };
}

it.each([
  ["50%", 50, 100, false],
  ["50%", 51, 100, true],
  ["50%", 99, 99, false],
  ["10%", 100, 1_000, false],
  ["10%", 101, 1_000, true],
  ["0%", 1, 1_000, true],
  ["100%", 1_000, 1_000, false],
  ["33.3%", 333, 1_000, false],
  ["5", 5, 10, false],
  ["5", 6, 10, true],
  ["0", 1, 1, true],
  ["0", 0, 1, false],
])("--max-failed %s with %i of %i rows failed: %s", (text, failed, rows, isTooMany) => {
  expect(tooManyFailed(maxFailed().parse(text), counts(rows, failed))).toBe(isTooMany);
});

it("applies a share to rows that were looked up, not to unreadable lines", () => {
  expect(tooManyFailed({ percent: 50 }, counts(100, 10, 500))).toBe(false);
  expect(tooManyFailed({ percent: 50 }, counts(60, 60, 500))).toBe(false);
});

it("applies a number of rows to every failed row", () => {
  expect(tooManyFailed({ rows: 500 }, counts(100, 10, 491))).toBe(true);
});
