import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timeText } from "../../../src/core/clock.js";
import { bigquery } from "../../../src/io/output/sql/bigquery.js";
import { duckdb } from "../../../src/io/output/duckdb/dialect.js";
import { postgres } from "../../../src/io/output/postgres/dialect.js";
import { sqlType } from "../../../src/io/output/sql/dialect.js";
import {
  decimalText,
  decimalType,
  floatText,
  numberText,
  parquetLacks,
  storedType,
  type StoredType,
} from "../../../src/io/formats/column-types.js";

const cellOf = (type: StoredType, text: string) => storedType(type).cellOf(text);

const bits64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe("the cell of a text", () => {
  it("is the integer", () => {
    fc.assert(
      fc.property(bits64, (value) => {
        expect(cellOf("integer", String(value))).toBe(value);
      }),
    );
  });

  it("is the decimal, whatever its digits", () => {
    const digits = fc
      .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38), fc.bigInt({ min: 0n, max: 10n ** 38n }))
      .filter(([precision, scale]) => scale <= precision);
    fc.assert(
      fc.property(digits, fc.boolean(), ([precision, scale, any], isNegative) => {
        const unscaled = (any % 10n ** BigInt(precision)) * (isNegative ? -1n : 1n);
        const type = decimalType(precision, scale)!;
        expect(cellOf(type, decimalText(unscaled, scale))).toBe(unscaled);
      }),
    );
  });

  it("is the number, its sign included", () => {
    fc.assert(
      fc.property(fc.double(), fc.float(), (double, single) => {
        expect(cellOf("number", numberText(double))).toBe(double);
        expect(Math.fround(cellOf("float", floatText(single)) as number)).toBe(single);
      }),
    );
  });

  it("is the time", () => {
    const years = { min: -62_135_596_800n, max: 253_402_300_799n };
    fc.assert(
      fc.property(fc.bigInt(years), fc.nat(999_999), bits64, (seconds, micros, nanos) => {
        const units = seconds * 1_000_000n + BigInt(micros);
        expect(cellOf("timestamp", timeText(units, 6))).toBe(units);
        expect(cellOf("timestamp_local", timeText(units, 6))).toBe(units);
        expect(cellOf("timestamp_ns", timeText(nanos, 9))).toBe(nanos);
        const day = timeText(seconds, 0).slice(0, 10);
        expect(cellOf("date", day)).toBe(Math.floor(Number(seconds) / 86_400));
      }),
    );
  });

  it("is the JSON as it is", () => {
    const large = fc.constantFrom('"3e99999 is a text"', '"\\"3e99999"', '{"a" : 1.50}');
    fc.assert(
      fc.property(fc.oneof(fc.json(), large), (json) => {
        expect(cellOf("json", json)).toBe(json);
      }),
    );
  });

  it.each<[StoredType, string]>([
    ["integer", "9223372036854775808"],
    ["decimal(4,2)", "100.00"],
    ["decimal(4,2)", "0.001"],
    ["number", "0x10"],
    ["boolean", "t"],
    ["date", "12024-01-01"],
    ["timestamp", "0044-03-15 00:00:00 BC"],
    ["timestamp_ns", "9999-12-31T23:59:59Z"],
    ["json", "[1e100000]"],
    ["json", "{'a': 1}"],
    ["json", "1".repeat(10_000)],
  ])("of %s is not %s", (type, text) => {
    expect(cellOf(type, text)).toBeUndefined();
  });
});

it("outputs lack some types", () => {
  expect(parquetLacks("numeric")).toBe(true);
  expect(postgres.rules.lacks("numeric")).toBe(false);
  expect(postgres.rules.lacks("timestamp_ns_local")).toBe(true);
  expect(duckdb.rules.lacks("timestamp_ns_local")).toBe(false);
  expect(bigquery.rules.lacks("uuid")).toBe(true);
  expect(parquetLacks("text")).toBe(false);
  expect(sqlType(bigquery, "decimal(38,10)")).toBe("BIGNUMERIC(38,10)");
  expect(sqlType(bigquery, "decimal(38,9)")).toBe("NUMERIC(38,9)");
  expect(decimalType(39, 0)).toBeNull();
  expect(decimalType(2, 3)).toBeNull();
});
