import { describe, expect, it } from "vitest";
import { failOn, leastRows, refusalOf, rowLimit } from "../../../src/jobs/enrich/failure-limits.js";
import { Tally, type TallySnapshot } from "../../../src/jobs/enrich/tally.js";

interface Rows {
  /** Rows that were looked up, and the failed ones among them. */
  readonly asked?: number;
  readonly failed?: number;
  /** Lines that are no record. */
  readonly broken?: number;
  readonly unsupported?: Readonly<Record<string, number>>;
}

function counts({ asked = 0, failed = 0, broken = 0, unsupported = {} }: Rows): TallySnapshot {
  const none = new Tally().snapshot();
  const idle = Object.values(unsupported).reduce((sum, n) => sum + n, 0);
  const statuses = { complete: asked - failed, failed: failed + broken, unsupported: idle };
  return {
    ...none,
    rows: asked + broken + idle,
    kinds: { ...none.kinds, ip: asked },
    statuses: { ...none.statuses, ...statuses },
    errors: { timeout: failed, input_row: broken },
    unsupported,
  };
}

function refused(rows: Rows, { maxFailed = "50%", minRows = "50%" } = {}, earlier?: number) {
  const limits = { maxFailed: rowLimit().parse(maxFailed), minRows: rowLimit().parse(minRows) };
  return refusalOf(limits, counts(rows), earlier);
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
])("--max-failed %s with %i of %i rows failed: %s", (maxFailed, failed, asked, isTooMany) => {
  expect(refused({ asked, failed }, { maxFailed })).toBe(isTooMany ? "too_many_failed" : null);
});

it.each<[Rows, string, string | null]>([
  [{ asked: 100, failed: 10, broken: 81 }, "50%", "too_many_failed"],
  [{ asked: 100, failed: 10, broken: 80 }, "50%", null],
  [{ asked: 1, broken: 99 }, "50%", "too_many_failed"],
  [{ asked: 1, broken: 98 }, "50%", null],
  [{ asked: 60, broken: 60, unsupported: { empty: 900 } }, "50%", null],
  [{ asked: 49, broken: 51, unsupported: { empty: 900 } }, "50%", "too_many_failed"],
  [{ asked: 100, failed: 10, broken: 491 }, "500", "too_many_failed"],
  [{ asked: 1, broken: 999 }, "100%", null],
])("broken lines count for --max-failed: %j, %s", (rows, maxFailed, refusal) => {
  expect(refused(rows, { maxFailed })).toBe(refusal);
});

it.each<[Rows, string | null]>([
  [{ broken: 1 }, "nothing_to_look_up"],
  [{ broken: 120 }, "nothing_to_look_up"],
  [{ unsupported: { empty: 1 } }, "nothing_to_look_up"],
  [{ unsupported: { sha256: 3, md5: 2 } }, "nothing_to_look_up"],
  [{ broken: 3, unsupported: { prose: 4 } }, "nothing_to_look_up"],
  [{ asked: 1, unsupported: { empty: 119 } }, null],
  [{ asked: 1, failed: 1 }, null],
  [{ unsupported: { excluded: 3 } }, null],
  [{ unsupported: { internal_host: 1, empty: 3 } }, null],
  [{ unsupported: { tlp: 3, sha256: 1 } }, null],
  [{ broken: 3, unsupported: { excluded: 1 } }, null],
])("nothing to look up, whatever the number of rows: %j", (rows, refusal) => {
  expect(refused(rows)).toBe(refusal);
  expect(refused(rows, { maxFailed: "1000" })).toBe(refusal);
  expect(refused(rows, { maxFailed: "100%" })).toBeNull();
});

it.each([
  ["50%", undefined, 1],
  ["50%", 0, 1],
  ["1%", undefined, 1],
  ["0%", undefined, 0],
  ["0", undefined, 0],
  ["50%", 1, 1],
  ["50%", 99, 1],
  ["50%", 100, 50],
  ["50%", 1_402, 701],
  ["50%", 101, 51],
  ["90%", 1_000, 900],
  ["100%", 1_000, 1_000],
  ["0%", 1_000, 0],
  ["0", 1_000, 0],
  ["10", undefined, 10],
  ["10", 1_000, 10],
])("--min-rows %s after %s rows needs %i", (limit, earlier, least) => {
  const minRows = limit;
  expect(leastRows(rowLimit().parse(limit), earlier)).toBe(least);
  const below = refused({ asked: Math.max(0, least - 1) }, { minRows }, earlier);
  expect(below).toBe(least > 0 ? "too_few_rows" : null);
  expect(refused({ asked: Math.max(1, least) }, { minRows }, earlier)).toBeNull();
});

it("too few rows are refused whatever becomes of them, --max-failed 100% or not", () => {
  for (const rows of [{}, { broken: 2 }, { asked: 2 }, { unsupported: { empty: 2 } }]) {
    expect(refused(rows, { maxFailed: "100%" }, 1_402)).toBe("too_few_rows");
  }
});

it.each([
  ["50%", undefined, 0],
  ["50%", 99, 0],
  ["50%", 100, 50],
  ["10", undefined, 10],
])(
  "--min-rows %s of an input that may be empty needs, after %s rows, %i",
  (limit, earlier, least) => {
    const minRows = { ...rowLimit().parse(limit), mayBeEmpty: true as const };
    expect(leastRows(minRows, earlier)).toBe(least);
  },
);

describe("--max-failed and --min-rows", () => {
  it.each([
    ["0", { rows: 0 }],
    ["500", { rows: 500 }],
    [500, { rows: 500 }],
    ["50%", { percent: 50 }],
    ["0.5%", { percent: 0.5 }],
    ["100%", { percent: 100 }],
  ])("reads %j", (text, limit) => {
    expect(rowLimit().parse(text)).toEqual(limit);
  });

  it.each(["", "-1", "1.5", "101%", "half", "%", "5 %x", "1e3", -1, 0.5])("refuses %j", (text) => {
    const { error } = rowLimit().safeParse(text);
    expect(error?.issues[0]?.message).toBe(
      "must be a number of rows such as 500, or a share such as 50%",
    );
  });
});

it.each([
  ["faled", /must be one of .*\(did you mean failed\?\)/],
  ["unsuported:90%", /did you mean unsupported\?/],
  ["failed:", /such as unsupported:90%/],
  ["failed:90", /such as unsupported:90%/],
  ["failed:101%", /such as unsupported:90%/],
  ["failed:x%", /such as unsupported:90%/],
  ["never:5%", /\(except never\)/],
  ["constructor", /must be one of/],
  ["", /must be one of/],
])("--fail-on refuses %j", (text, message) => {
  expect(failOn().safeParse(text).error?.issues[0]?.message).toMatch(message);
});
