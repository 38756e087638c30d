import { describe, expect, it } from "vitest";
import {
  type ColumnProblem,
  noItemColumn,
  othersNotice,
} from "../../../../src/io/formats/columns/find-columns.js";
import {
  matchColumn,
  unknownColumn,
  warnOfDuplicateName,
} from "../../../../src/io/formats/columns/name-columns.js";
import type { ColumnSample, RatedColumn } from "../../../../src/io/formats/types.js";

it.each([
  ["an exact match", ["DATA", " data", "data"], "data", 2],
  ["else one without surrounding spaces", ["DATA", " data "], "data", 1],
  ["else one in any case", ["note", " Data"], "data ", 1],
  ["and without quotes, kept if a space follows", ["a", '"IP Address" '], "ip address", 1],
  ["a name with the # of a commented header", ["id", "ip"], "#id", 0],
  ["an unnamed column by its position", ["ip", " "], "column_2", 1],
  ["no named column by its position", ["ip", "note"], "column_2", undefined],
  ["a column with the name of an earlier one by its position", ["ip", "n", "ip"], "column_3", 2],
  ["a column with the name of another by its position", ["ip", "note", "ip"], "column_3", 2],
])("matchColumn takes %s", (_, columns, wanted, index) => {
  expect(matchColumn(columns, wanted)?.index).toBe(index);
});

it("warnOfDuplicateName warns that the first of several columns is used", () => {
  const warnings: string[] = [];
  warnOfDuplicateName(["data ", "note", "data"], { name: "data ", index: 0 }, warnings);
  expect(warnings).toEqual([
    'several columns are named "data"; using the first (the others: column_3)',
  ]);
});

it("unknownColumn names the input, the flag, all columns and a similar one", () => {
  const flag = { flag: "--item-column", wanted: "Dta" } as const;
  expect(unknownColumn("dump.csv", ["Indicator_type", " Data ", "Note"], flag)).toMatchObject({
    code: "column_not_found",
    message:
      'dump.csv has no column "Dta" (--item-column). Its columns are: "Indicator_type", "Data", "Note".',
    hint: 'Did you mean "Data"?',
  });
});

const empty: ColumnSample = { cells: 9, indicators: 0, share: 0, queryable: 0, kind: null };
const full: ColumnSample = { cells: 4, indicators: 4, share: 1, queryable: 1, kind: "ip" };

/** Columns in order, by name. */
function rated(columns: Readonly<Record<string, ColumnSample>>): readonly RatedColumn[] {
  return Object.entries(columns).map(([name, sample], index) => ({ name, index, sample }));
}

describe("noItemColumn", () => {
  it("lists the share of each column and the flag to use", () => {
    const columns = rated({
      " src ip ": { ...full, cells: 200, share: 0.995, queryable: 0.99 },
      dst: { ...full, cells: 180, queryable: 0.9 },
      "": { ...empty, cells: 1 },
    });
    const error = noItemColumn("my dump.csv", columns, { problem: "several" });
    expect([error.code, error.message, error.hint]).toEqual([
      "column_ambiguous",
      [
        "my dump.csv: several columns could hold the items. Share of indicators per column:",
        '  "src ip"  100% of 200 sampled cells; ip to look up in 99% of the rows',
        '  "dst"  100% of 180 sampled cells; ip to look up in 90% of the rows',
        '  "column_3"  0% of 1 sampled cell',
      ].join("\n"),
      "name one, or look up all of them: " +
        "repute enrich 'my dump.csv' --item-column 'src ip' --item-column dst",
    ]);
  });

  it.each<[string, string, Parameters<typeof rated>[0], ColumnProblem["problem"], string, string]>([
    [
      "when no column qualifies, and how to find what is inside",
      "stdin",
      { Data: empty, "\u001b[31mred": empty },
      "none",
      'column_not_found: stdin: no column has indicators in at least half of its sampled cells. Share of indicators per column:\n  "Data"  0% of 9 sampled cells\n  "\\u001b[31mred"  0% of 9 sampled cells',
      "to find the items inside its cells: repute extract | repute enrich - -o OUT; or name the column with --item-column NAME",
    ],
    [
      "which usual name can't be read",
      "a b.csv",
      { IOC: { ...full, indicators: 1, share: 0.25 }, peer: full, Link: { ...full, kind: "url" } },
      "unreadable",
      'column_ambiguous: a b.csv: column "IOC" can\'t be read: only 1 of 4 sampled cells is an indicator.',
      "to look up what there is: repute enrich 'a b.csv' --item-column IOC --item-column peer; to find the items inside its cells: repute extract 'a b.csv' | repute enrich - -o OUT",
    ],
    [
      "the elements of a list in place of the list",
      "a",
      { item: { ...empty, cells: 4 }, "item[]": full },
      "unreadable",
      'column_ambiguous: a: column "item" can\'t be read',
      "to look up what there is: repute enrich a --item-column 'item[]'; to find the items inside",
    ],
    [
      "a column named as a citation with other items than pages",
      "a",
      { Source: full },
      "none",
      "column_ambiguous: a: no column",
      "to look up what there is: repute enrich a --item-column Source; ",
    ],
    [
      "no citation",
      "a",
      { Source: { ...full, kind: "url" } },
      "none",
      "column_ambiguous: a: no column",
      "to find the items inside its cells: ",
    ],
  ])("says %s", (_, input, samples, problem, message, hint) => {
    const columns = rated(samples);
    const why = { problem, column: columns[0]! } as ColumnProblem;
    const error = noItemColumn(input, columns, why);
    expect(`${error.code}: ${error.message}`.slice(0, message.length)).toBe(message);
    expect(error.hint?.slice(0, hint.length)).toBe(hint);
  });

  it.each([
    [{ peer: full }, "to look up what there is: repute enrich a --item-column peer"],
    [{ peer: empty }, "name the column with --item-column NAME"],
  ])("proposes no extract of a table: %j", (samples, hint) => {
    expect(noItemColumn("a", rated(samples), { problem: "none" }, true).hint).toBe(hint);
  });
});

it.each([
  [
    ["IoC", " SHA1"],
    'column "SHA1" has items too (61 of 200 rows): --item-column IoC --item-column SHA1',
  ],
  [
    ["IoC", "SHA1", ""],
    'columns "SHA1" (61 of 200 rows), "column_3" (61 of 200 rows) have items too: ' +
      "--item-column IoC --item-column SHA1 --item-column column_3",
  ],
  // The elements of a list stand for its single values.
  [["ips", "ips[]"], "column \"ips[]\" has items too (61 of 200 rows): --item-column 'ips[]'"],
])(
  "othersNotice names those beside the first of %j, and the flags that take all",
  (names, notice) => {
    const [item, ...columns] = names.map((name, index) => ({ name, index, rows: 61 }));
    expect(othersNotice([item!], { sampled: 200, columns })).toBe(notice);
  },
);
