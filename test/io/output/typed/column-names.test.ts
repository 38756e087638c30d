import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columns, schemaVersion } from "../../../../src/core/columns.js";
import { sinkOptions } from "../../../../src/io/output/options.js";
import {
  type ColumnRules,
  parquetRules,
  safeColumnNames,
  tableSchema,
} from "../../../../src/io/output/typed/table-schema.js";
import { dialects } from "../../../../src/io/output/registry.js";
import { anyText } from "../../../helpers/any-text.js";

const rulesOf = Object.fromEntries([
  ["parquet", parquetRules] as const,
  ...dialects.map(({ name, rules }) => [name, rules] as const),
]) as Record<Target, ColumnRules>;

type Target = "postgres" | "duckdb" | "bigquery" | "parquet";

const safe = (target: Target, ...names: readonly string[]) =>
  safeColumnNames(rulesOf[target], names, ["rep_item", "rep_status"]);

const n = (length: number): string => "n".repeat(length);

describe("names of input columns", () => {
  it.each<[string, Target, readonly string[], readonly string[]]>([
    ["stay unchanged if possible", "duckdb", ["ip", 'a "b"'], ["ip", 'a "b"']],
    ["are never empty", "duckdb", ["", "ip", "  "], ["column_1", "ip", "column_3"]],
    ["are numbered if repeated", "duckdb", ["a", "a", "a"], ["a", "a_2", "a_3"]],
    ["are equal but for their case", "postgres", ["Ip", "IP", "ip"], ["Ip", "IP_2", "ip_3"]],
    ["take none that stays", "duckdb", ["a", "a", "a_2"], ["a", "a_3", "a_2"]],
    ["lose control characters", "parquet", [" ip ", "a\nb\tc"], ["ip", "a_b_c"]],
    ["get U+FFFD", "duckdb", ["a\uD800", "b\0"], ["a\uFFFD", "b\uFFFD"]],
    ["fit with a number", "postgres", [n(63), n(63)], [n(63), `${n(61)}_2`]],
    ["are no system columns", "postgres", ["xmin", "CTID"], ["xmin_2", "CTID_2"]],
    ["are words", "bigquery", ["seen (UTC)", "größe", "名前"], ["seen_UTC_", "gr_e", "column_3"]],
    ["begin with a letter", "bigquery", ["1st", "_TABLE_SUFFIX"], ["c_1st", "c_TABLE_SUFFIX"]],
    ["are cut for BigQuery", "bigquery", [n(400)], [n(300)]],
  ])("%s in %s", (_, target, names, stored) => {
    expect(safe(target, ...names)).toEqual(stored);
  });

  it("are rejected above 63 bytes in PostgreSQL, where the server would truncate them", () => {
    const longest = `${"ä".repeat(31)}n`;
    expect(safe("postgres", longest, ` ${longest} `)[0]).toBe(longest);
    expect(() => safe("postgres", "ip", `${longest}n`)).toThrow(
      expect.objectContaining({
        code: "name_too_long",
        message: `the input's column ${longest}n has a name of 64 bytes; PostgreSQL allows 63`,
      }),
    );
  });

  it("are rejected in any case if they would be added", () => {
    expect(() => safe("duckdb", "ip", "REP_Item")).toThrow(
      expect.objectContaining({ code: "column_clash", hint: expect.stringContaining("--prefix") }),
    );
  });
});

it("the longest prefix leaves room for all added columns", () => {
  const prefix = "p".repeat(32);
  expect(sinkOptions.shape.prefix.safeParse(`${prefix}p`).success).toBe(false);
  for (const { name } of columns) expect(prefix.length + name.length).toBeLessThanOrEqual(63);
});

it.each(["postgres", "duckdb", "bigquery", "parquet"] as const)(
  "arbitrary names become unique names that %s can store",
  (target) => {
    const word = fc.oneof(anyText({ maxLength: 15 }), fc.constantFrom("a", "A", "", "a_2"));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (names) => {
        const stored = safeColumnNames(rulesOf[target], names, ["rep_item"]);
        expect(new Set(stored.map((name) => name.toLowerCase())).size).toBe(names.length);
        for (const name of stored) {
          expect(name).not.toBe("");
          expect(name).not.toContain("\0");
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(target === "postgres" ? 63 : 4096);
        }
        expect(safeColumnNames(rulesOf[target], stored, ["rep_item"])).toEqual(stored);
      }),
    );
  },
);

/** The columns of this schema version. Whoever changes them raises the version. */
const recorded = `4: run_id text, row count, loaded_at timestamp, item text, kind text, status text,
  verdict text, missing text[], type text, mail_blocklist text, bogon boolean, intent text, tags text[],
  first_seen timestamp, last_seen timestamp, reverse_dns text[], abuse_email text, abuse_status text,
  abuse_verified_at timestamp, asn text, as_name text, as_country text, honeypot_first_seen timestamp,
  honeypot_last_seen timestamp, honeypot_observations count, spamtrap_first_seen timestamp,
  spamtrap_last_seen timestamp, spamtrap_observations count, quick_mail_blocklist text, quick_intent text,
  quick_bogon boolean, quick_activity boolean, source text, http_status count, attempts count,
  looked_up_at timestamp, error_code text, error text, extra text`;

it("a table has the columns recorded for its schema version", () => {
  const { columns: table } = tableSchema(rulesOf.duckdb, { columns: [], prefix: "" });
  const found = `${schemaVersion}: ${table.map(({ name, type }) => `${name} ${type}`).join(", ")}`;
  expect(found).toBe(recorded.replaceAll(/\s+/g, " "));
});
