import { describe, expect, it } from "vitest";
import { historyOf, type Night } from "../../../src/report/history.js";

function night(day: number, members: Partial<Night> = {}): Night {
  return {
    runId: `run-${day}`,
    startedAt: new Date(Date.UTC(2026, 0, 1 + day)).toISOString(),
    rows: 1000,
    statuses: { complete: 1000 },
    verdicts: { malicious: 10, none: 990 },
    requests: 1000,
    seconds: 60,
    drift: 0,
    ...members,
  };
}

const names = (nights: readonly Night[]): string[] =>
  historyOf(nights)
    .filter((series) => series.isOutlier)
    .map(({ name }) => name);

describe("historyOf", () => {
  it("takes the latest night for tonight, whatever the order of the files", () => {
    const [rows] = historyOf([night(2, { rows: 3 }), night(0, { rows: 1 }), night(1, { rows: 2 })]);
    expect(rows).toMatchObject({ name: "rows", values: [1, 2, 3], usual: 1.5 });
  });

  it("leaves out what was zero every night, except for the rows", () => {
    const zeros = { rows: 0, statuses: { failed: 0 }, verdicts: { none: 0 }, requests: 0 };
    const series = historyOf([night(0, zeros), night(1, zeros)]);
    expect(series.map(({ name }) => name)).toEqual(["rows", "duration"]);
  });

  it("marks a jump of any figure after five nights", () => {
    const usual = Array.from({ length: 5 }, (_, day) => night(day));
    const jump = { rows: 2000, verdicts: { malicious: 40, none: 1960 }, seconds: 300 };
    expect(names([...usual, night(5, jump)])).toEqual([
      "rows",
      "malicious",
      "nothing known",
      "duration",
    ]);
    expect(names([...usual.slice(1), night(5, jump)])).toEqual([]);
  });

  it("marks no small change of a figure that never moved", () => {
    const usual = Array.from({ length: 10 }, (_, day) => night(day));
    expect(names([...usual, night(10, { rows: 1050, requests: 1050, seconds: 63 })])).toEqual([]);
  });

  it("marks a status that is seen for the first time", () => {
    const usual = Array.from({ length: 6 }, (_, day) => night(day));
    const failed = { statuses: { complete: 900, failed: 100 } };
    expect(names([...usual, night(6, failed)])).toEqual(["complete", "failed"]);
  });
});
