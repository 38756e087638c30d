import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columns } from "../../../../src/core/columns.js";
import { sinkOptions } from "../../../../src/outputs/options.js";
import { safeColumnNames } from "../../../../src/outputs/sql/column-names.js";
import { anyText } from "../../../helpers/any-text.js";

const safe = (target: Parameters<typeof safeColumnNames>[0], ...names: string[]) =>
  safeColumnNames(target, names, ["rep_item", "rep_status"]);

describe("names of input columns", () => {
  it("stay unchanged if possible", () => {
    expect(safe("duckdb", "ip", 'a "b"', "select")).toEqual(["ip", 'a "b"', "select"]);
  });

  it("become column_N if empty", () => {
    expect(safe("duckdb", "", "ip", "  ")).toEqual(["column_1", "ip", "column_3"]);
  });

  it("are numbered if repeated", () => {
    expect(safe("duckdb", "a", "a", "a")).toEqual(["a", "a_2", "a_3"]);
  });

  it("are equal if only their case differs", () => {
    expect(safe("postgres", "Ip", "IP", "ip")).toEqual(["Ip", "IP_2", "ip_3"]);
  });

  it("never take the name of a column that stays unchanged", () => {
    expect(safe("duckdb", "a", "a", "a_2", "", "column_4")).toEqual([
      "a",
      "a_3",
      "a_2",
      "column_4_2",
      "column_4",
    ]);
  });

  it("lose surrounding spaces and control characters", () => {
    expect(safe("parquet", " ip ", "a\nb\tc")).toEqual(["ip", "a_b_c"]);
  });

  it("get U+FFFD for invalid characters", () => {
    expect(safe("duckdb", "a\uD800", "b\0")).toEqual(["a\uFFFD", "b\uFFFD"]);
  });
});

describe("names for PostgreSQL", () => {
  it("are rejected above 63 bytes, where the server would truncate them", () => {
    const longest = `${"ä".repeat(31)}n`;
    expect(safe("postgres", longest, ` ${longest} `)[0]).toBe(longest);
    expect(() => safe("postgres", "ip", `${longest}n`)).toThrow(
      expect.objectContaining({
        code: "name_too_long",
        message: `the input's column ${longest}n has a name of 64 bytes; PostgreSQL allows 63`,
      }),
    );
  });

  it("stay within 63 bytes with a number", () => {
    const long = "n".repeat(63);
    expect(safe("postgres", long, long)).toEqual([long, `${"n".repeat(61)}_2`]);
  });

  it("leave room for all added columns with the longest prefix", () => {
    const prefix = "p".repeat(32);
    expect(sinkOptions.shape.prefix.safeParse(`${prefix}p`).success).toBe(false);
    for (const { name } of columns) expect(prefix.length + name.length).toBeLessThanOrEqual(63);
  });

  it("avoid the names of system columns", () => {
    expect(safe("postgres", "xmin", "CTID")).toEqual(["xmin_2", "CTID_2"]);
  });
});

describe("names for DuckDB", () => {
  it("are truncated to 1,024 characters and stay unique", () => {
    const long = "n".repeat(1_030);
    expect(safe("duckdb", long, `${long}m`)).toEqual(["n".repeat(1_024), `${"n".repeat(1_022)}_2`]);
  });
});

describe("names for BigQuery", () => {
  it("contain only letters, digits and underscores", () => {
    expect(safe("bigquery", "first seen (UTC)", "größe")).toEqual(["first_seen_UTC_", "gr_e"]);
  });

  it("don't start with a digit or a reserved prefix", () => {
    expect(safe("bigquery", "1st", "_TABLE_SUFFIX")).toEqual(["c_1st", "c_TABLE_SUFFIX"]);
  });

  it("are numbered if nothing is left", () => {
    expect(safe("bigquery", "名前", "?")).toEqual(["column_1", "column_2"]);
  });

  it("are truncated to 300 characters", () => {
    expect(safe("bigquery", "n".repeat(400))[0]).toHaveLength(300);
  });
});

describe("an added column that exists in the input", () => {
  it("is rejected in any case", () => {
    expect(() => safe("duckdb", "ip", "REP_Item")).toThrow(/REP_Item/);
  });

  it("is rejected with a hint", () => {
    expect(() => safe("duckdb", "rep_status")).toThrow(
      expect.objectContaining({ code: "column_clash", hint: expect.stringContaining("--prefix") }),
    );
  });
});

it.each(["postgres", "duckdb", "bigquery", "parquet"] as const)(
  "arbitrary names become unique names that %s can store",
  (target) => {
    const word = fc.oneof(anyText({ maxLength: 15 }), fc.constantFrom("a", "A", "", "a_2"));
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
