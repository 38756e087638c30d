import { describe, expect, it } from "vitest";
import {
  matchColumn,
  warnOfDuplicateName,
  noItemColumn,
  othersNotice,
  unknownColumn,
} from "../../../../src/io/formats/columns/name-columns.js";
import type { RatedColumn } from "../../../../src/io/formats/types.js";
import { Warnings } from "../../../../src/io/formats/reading/lines.js";

describe("matchColumn", () => {
  it("prefers an exact match", () => {
    expect(matchColumn(["DATA", " data", "data"], "data")).toEqual({ name: "data", index: 2 });
  });

  it("then ignores surrounding spaces", () => {
    expect(matchColumn(["DATA", " data "], "data")).toEqual({ name: " data ", index: 1 });
  });

  it("then ignores case", () => {
    expect(matchColumn(["note", " Data"], "data ")).toEqual({ name: " Data", index: 1 });
  });

  it("and quotes, which are kept if a space follows", () => {
    expect(matchColumn(["note", '"IP Address" '], "ip address")?.index).toBe(1);
  });

  it("accepts a name with the # of a commented header", () => {
    expect(matchColumn(["id", "ip"], "#id")).toEqual({ name: "id", index: 0 });
  });

  it("finds an unnamed column by position", () => {
    expect(matchColumn(["ip", " "], "column_2")).toEqual({ name: " ", index: 1 });
    expect(matchColumn(["ip", "note"], "column_2")).toBeNull();
  });
});

it("warnOfDuplicateName warns that the first of several columns is used", () => {
  const warnings = new Warnings();
  warnOfDuplicateName(["data ", "note", "data"], { name: "data ", index: 0 }, warnings);
  expect([...warnings.counts.keys()]).toEqual([
    'several columns are named "data"; using the first',
  ]);
});

function shares(names: readonly string[]): readonly RatedColumn[] {
  const sample = { cells: 9, indicators: 0, share: 0, queryable: 0, kind: null };
  return names.map((name, index) => ({ name, index, sample }));
}

function sampled(
  name: string,
  index: number,
  sample: Omit<RatedColumn["sample"], "kind"> & { readonly kind?: null },
): RatedColumn {
  return { name, index, sample: { kind: "ip", ...sample } };
}

describe("unknownColumn", () => {
  it("names the input, the flag, all columns and a similar one", () => {
    const flag = { flag: "--item-column", wanted: "Dta" } as const;
    expect(unknownColumn("dump.csv", ["Indicator_type", " Data ", "Note"], flag)).toMatchObject({
      code: "column_not_found",
      message:
        'dump.csv has no column "Dta" (--item-column). Its columns are: "Indicator_type", "Data", "Note".',
      hint: 'Did you mean "Data"?',
    });
  });

  it("escapes control characters", () => {
    const other = noItemColumn("dump.csv", shares(["\u001b[31mred"]), { problem: "none" });
    expect(other.message).toContain('"\\u001b[31mred"');
  });
});

describe("noItemColumn", () => {
  it("lists the share of each column and the flag to use", () => {
    const columns = [
      sampled(" src ip ", 0, { cells: 200, indicators: 199, share: 0.995, queryable: 0.99 }),
      sampled("dst", 1, { cells: 180, indicators: 180, share: 1, queryable: 0.9 }),
      sampled("", 2, { cells: 1, indicators: 0, share: 0, queryable: 0, kind: null }),
    ];
    const error = noItemColumn("my dump.csv", columns, { problem: "several" });
    expect([error.code, error.message, error.hint]).toEqual([
      "column_ambiguous",
      [
        "my dump.csv: several columns could hold the items. Share of indicators per column:",
        '  "src ip"  100% of 200 sampled cells; ip in 99% of the rows',
        '  "dst"  100% of 180 sampled cells; ip in 90% of the rows',
        '  "column_3"  0% of 1 sampled cell',
      ].join("\n"),
      "name one, or look up all of them: " +
        "repute enrich 'my dump.csv' --item-column 'src ip' --item-column dst",
    ]);
  });

  it("tells when no column qualifies", () => {
    const { code, message } = noItemColumn("dump.csv", shares(["Data"]), { problem: "none" });
    expect(`${code}: ${message}`).toBe(
      "column_not_found: dump.csv: no column has indicators in at least half of its sampled " +
        'cells. Share of indicators per column:\n  "Data"  0% of 9 sampled cells',
    );
  });

  it("proposes the elements of a list in place of the list, and no extract of a table", () => {
    const columns = [
      sampled("item", 0, { cells: 4, indicators: 0, share: 0, queryable: 0, kind: null }),
      sampled("item[]", 1, { cells: 4, indicators: 4, share: 1, queryable: 1 }),
    ];
    const why = { problem: "unreadable", column: columns[0]! } as const;
    const all = "to look up what there is: repute enrich a --item-column 'item[]'";
    expect(noItemColumn("a", columns, why).hint).toMatch(`${all}; to find the items inside`);
    expect(noItemColumn("a", columns, why, true).hint).toBe(all);
    expect(noItemColumn("a", shares(["b"]), { problem: "none" }, true).hint).toBe(
      "name the column with --item-column NAME",
    );
  });

  it("proposes a column named as a citation if it has other items than pages", () => {
    const sample = { cells: 4, indicators: 4, share: 1, queryable: 1 };
    const hint = (kind: "ip" | "url"): unknown => {
      const columns = [{ name: "Source", index: 0, sample: { ...sample, kind } }];
      return noItemColumn("a", columns, { problem: "none" }).hint;
    };
    expect(hint("ip")).toContain("repute enrich a --item-column Source");
    expect(hint("url")).not.toContain("--item-column Source");
  });

  it("says which usual name can't be read, and how to find what is inside", () => {
    const columns = [
      sampled("IOC", 0, { cells: 4, indicators: 1, share: 0.25, queryable: 0.25 }),
      sampled("peer", 1, { cells: 4, indicators: 4, share: 1, queryable: 1 }),
      {
        name: "Link",
        index: 2,
        sample: { cells: 4, indicators: 4, share: 1, queryable: 1, kind: "url" as const },
      },
    ];
    const why = { problem: "unreadable", column: columns[0]! } as const;
    const { code, message, hint } = noItemColumn("a b.csv", columns, why);
    expect([code, message.split("\n")[0], hint]).toEqual([
      "column_ambiguous",
      'a b.csv: column "IOC" can\'t be read: only 1 of 4 sampled cells is an indicator. ' +
        "Share of indicators per column:",
      "to look up what there is: repute enrich 'a b.csv' --item-column IOC --item-column peer; " +
        "to find the items inside its cells: repute extract 'a b.csv' | repute enrich - -o OUT",
    ]);
  });

  it("never says that there is nothing, and shows extract", () => {
    const { hint } = noItemColumn("stdin", shares(["a", "b"]), { problem: "none" });
    expect(hint).toBe(
      "to find the items inside its cells: repute extract | repute enrich - -o OUT; " +
        "or name the column with --item-column NAME",
    );
  });

  it.each([["Data,Note", "comma"]])(
    "recognises a single column %j as %s-separated",
    (column, separator) => {
      expect(noItemColumn("dump", shares([column]), { problem: "none" }).hint).toContain(
        `looks ${separator}-separated`,
      );
    },
  );
});

describe("othersNotice", () => {
  it("takes the elements of a list in place of its single values", () => {
    const columns = [{ name: "ips[]", index: 1, rows: 4 }];
    expect(othersNotice([{ name: "ips", index: 0 }], { sampled: 8, columns })).toBe(
      "column \"ips[]\" has items too (4 of 8 rows): --item-column 'ips[]'",
    );
  });

  const item = { name: "IoC", index: 0 };
  const sha1 = { name: " SHA1", index: 1, rows: 61 };
  const host = { name: "", index: 2, rows: 1 };

  it.each([
    [[sha1], 'column "SHA1" has items too (61 of 200 rows): --item-column IoC --item-column SHA1'],
    [
      [sha1, host],
      'columns "SHA1" (61 of 200 rows), "column_3" (1 of 200 rows) have items too: ' +
        "--item-column IoC --item-column SHA1 --item-column column_3",
    ],
  ])("names %j and the flags that take all", (columns, notice) => {
    expect(othersNotice([item], { sampled: 200, columns })).toBe(notice);
  });
});
