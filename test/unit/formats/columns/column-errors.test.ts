import { describe, expect, it } from "vitest";
import {
  noItemColumn,
  type RatedColumn,
  unknownColumn,
} from "../../../../src/formats/columns/find-column.js";

function shares(names: readonly string[]): readonly RatedColumn[] {
  const sample = { cells: 9, indicators: 0, share: 0 };
  return names.map((name, index) => ({ name, index, sample }));
}

describe("unknownColumn", () => {
  const error = unknownColumn("dump.csv", ["Indicator_type", " Data ", "Note"], {
    flag: "--item-column",
    wanted: "Dta",
  });

  it("has a stable code", () => {
    expect(error.code).toBe("column_not_found");
  });

  it("names the input, the flag and all columns", () => {
    expect(error.message).toBe(
      'dump.csv has no column "Dta" (--item-column). Its columns are: "Indicator_type", "Data", "Note".',
    );
  });

  it("suggests a similar column", () => {
    expect(error.hint).toBe('Did you mean "Data"?');
  });

  it("repeats the flag if no column is similar", () => {
    const other = unknownColumn("dump.csv", ["Note"], {
      flag: "--kind-column",
      wanted: "hostname",
    });
    expect(other.hint).toBe("Set --kind-column to one of them.");
  });

  it("escapes control characters", () => {
    const other = noItemColumn("dump.csv", shares(["\u001b[31mred"]), "none");
    expect(other.message).toContain('"\\u001b[31mred"');
  });

  it("truncates an overlong name", () => {
    const other = noItemColumn("dump.csv", shares(["x".repeat(5000)]), "none");
    expect(other.message.length).toBeLessThan(300);
  });
});

describe("noItemColumn", () => {
  it("lists the share of each column and the flag to use", () => {
    const columns = [
      { name: " src ", index: 0, sample: { cells: 200, indicators: 199, share: 0.995 } },
      { name: "dst", index: 1, sample: { cells: 180, indicators: 180, share: 1 } },
      { name: "", index: 2, sample: { cells: 1, indicators: 0, share: 0 } },
    ];
    const error = noItemColumn("dump.csv", columns, "several");
    expect([error.code, error.message, error.hint]).toEqual([
      "column_ambiguous",
      [
        "dump.csv: several columns could hold the items. Share of indicators per column:",
        '  "src"  100% of 200 sampled cells',
        '  "dst"  100% of 180 sampled cells',
        '  "column_3"  0% of 1 sampled cell',
      ].join("\n"),
      "name the item column with --item-column NAME",
    ]);
  });

  it("tells when no column qualifies", () => {
    const { code, message } = noItemColumn("dump.csv", shares(["Data"]), "none");
    expect(`${code}: ${message}`).toBe(
      "column_not_found: dump.csv: no column has indicators in at least half of its sampled " +
        'cells. Share of indicators per column:\n  "Data"  0% of 9 sampled cells',
    );
  });

  it.each([
    ["Data\tNote", "tab"],
    ["Data,Note", "comma"],
    ["Data;Note", "semicolon"],
  ])("recognises a single column %j as %s-separated", (column, separator) => {
    expect(noItemColumn("dump", shares([column]), "none").hint).toContain(
      `looks ${separator}-separated`,
    );
  });
});
