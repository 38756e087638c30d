import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columns } from "../../../../src/core/columns.js";
import { sinkOptions } from "../../../../src/outputs/options.js";
import { safeColumnNames } from "../../../../src/outputs/warehouse/column-names.js";

const safe = (target: Parameters<typeof safeColumnNames>[0], ...names: string[]) =>
  safeColumnNames(target, names, ["rep_item", "rep_status"]);

describe("names of input columns", () => {
  it("stay as they are where they can", () => {
    expect(safe("duckdb", "ip", 'a "b"', "select")).toEqual(["ip", 'a "b"', "select"]);
  });

  it("become column_N where they are empty", () => {
    expect(safe("duckdb", "", "ip", "  ")).toEqual(["column_1", "ip", "column_3"]);
  });

  it("are told apart by a number", () => {
    expect(safe("duckdb", "a", "a", "a")).toEqual(["a", "a_2", "a_3"]);
  });

  it("count as the same when only their case differs", () => {
    expect(safe("postgres", "Ip", "IP", "ip")).toEqual(["Ip", "IP_2", "ip_3"]);
  });

  it("never take the name of a column that needs no change", () => {
    expect(safe("duckdb", "a", "a", "a_2", "", "column_4")).toEqual([
      "a",
      "a_3",
      "a_2",
      "column_4_2",
      "column_4",
    ]);
  });

  it("lose spaces around them and control characters", () => {
    expect(safe("parquet", " ip ", "a\nb\tc")).toEqual(["ip", "a_b_c"]);
  });

  it("have U+FFFD for what is no character", () => {
    expect(safe("duckdb", "a\uD800", "b\0")).toEqual(["a\uFFFD", "b\uFFFD"]);
  });
});

describe("names for PostgreSQL", () => {
  it("are refused above 63 bytes, where the server would cut them", () => {
    const longest = `${"ä".repeat(31)}n`;
    expect(safe("postgres", longest, ` ${longest} `)[0]).toBe(longest);
    expect(() => safe("postgres", "ip", `${longest}n`)).toThrow(
      expect.objectContaining({
        code: "name_too_long",
        message: `the input's column ${longest}n has a name of 64 bytes; PostgreSQL allows 63`,
      }),
    );
  });

  it("stay within 63 bytes when a number tells them apart", () => {
    const long = "n".repeat(63);
    expect(safe("postgres", long, long)).toEqual([long, `${"n".repeat(61)}_2`]);
  });

  it("have room for every added column behind the longest prefix", () => {
    const prefix = "p".repeat(32);
    expect(sinkOptions.shape.prefix.safeParse(`${prefix}p`).success).toBe(false);
    for (const { name } of columns) expect(prefix.length + name.length).toBeLessThanOrEqual(63);
  });

  it("make way for the system's columns", () => {
    expect(safe("postgres", "xmin", "CTID")).toEqual(["xmin_2", "CTID_2"]);
  });
});

describe("names for DuckDB", () => {
  it("are cut at 1,024 characters, and stay apart", () => {
    const long = "n".repeat(1_030);
    expect(safe("duckdb", long, `${long}m`)).toEqual(["n".repeat(1_024), `${"n".repeat(1_022)}_2`]);
  });
});

describe("names for BigQuery", () => {
  it("have letters, digits and underscores", () => {
    expect(safe("bigquery", "first seen (UTC)", "größe")).toEqual(["first_seen_UTC_", "gr_e"]);
  });

  it("do not begin with a digit or a reserved word", () => {
    expect(safe("bigquery", "1st", "_TABLE_SUFFIX")).toEqual(["c_1st", "c_TABLE_SUFFIX"]);
  });

  it("are numbered where nothing is left", () => {
    expect(safe("bigquery", "名前", "?")).toEqual(["column_1", "column_2"]);
  });

  it("are cut at 300 characters", () => {
    expect(safe("bigquery", "n".repeat(400))[0]).toHaveLength(300);
  });
});

describe("a column that would be added", () => {
  it("is refused, whatever its case", () => {
    expect(() => safe("duckdb", "ip", "REP_Item")).toThrow(/REP_Item/);
  });

  it("is refused with the way out", () => {
    expect(() => safe("duckdb", "rep_status")).toThrow(
      expect.objectContaining({ code: "column_clash", hint: expect.stringContaining("--prefix") }),
    );
  });
});

it.each(["postgres", "duckdb", "bigquery", "parquet"] as const)(
  "any names come to distinct ones that %s can store",
  (target) => {
    const word = fc.oneof(
      fc.string({ unit: "binary", maxLength: 15 }),
      fc.constantFrom("a", "A", "", "a_2"),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (names) => {
        const stored = safeColumnNames(target, names, ["rep_item"]);
        expect(new Set(stored.map((name) => name.toLowerCase())).size).toBe(names.length);
        for (const name of stored) {
          expect(name).not.toBe("");
          expect(name).not.toContain("\0");
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(target === "postgres" ? 63 : 4096);
        }
        expect(safeColumnNames(target, stored, ["rep_item"])).toEqual(stored);
      }),
    );
  },
);
