import { parseTimestamp } from "../../core/clock.js";
import { columnTypes, in64Bits, type ParquetLeaf, type StoredTypeFacts } from "./column-types.js";
import type { DecimalType, StoredType } from "./typed-column.js";

type StoringName = "parquet" | keyof StoredTypeFacts["sql"];

export function storedType(type: StoredType): StoredTypeFacts {
  return isDecimal(type) ? decimal(type) : storedTypes[type];
}

export function lacksType(target: StoringName, type: StoredType): boolean {
  const { sql, parquet } = storedType(type);
  if (target === "parquet") return parquet === text.parquet && type !== "text";
  return sql[target] === text.sql[target] && type !== "text";
}

const { text } = columnTypes;

const storedTypes: Readonly<Record<Exclude<StoredType, DecimalType>, StoredTypeFacts>> = {
  ...columnTypes,
  integer: { ...columnTypes.count, jsonSchema: { type: ["integer", "null"] } },
  float: {
    ...columnTypes.number,
    sql: { postgres: "real", duckdb: "FLOAT", bigquery: "FLOAT64" },
    parquet: { type: "FLOAT" },
  },
  numeric: {
    sql: { ...text.sql, postgres: "numeric" },
    parquet: text.parquet,
    jsonSchema: columnTypes.number.jsonSchema,
    cellOf: (value) => (columnTypes.number.cellOf(value) === undefined ? undefined : value),
  },
  date: {
    sql: { postgres: "date", duckdb: "DATE", bigquery: "DATE" },
    parquet: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
    jsonSchema: { type: ["string", "null"], format: "date" },
    cellOf(value) {
      const micros = parseTimestamp(`${value}T00:00:00Z`);
      return micros === null ? undefined : Number(micros / dayMicros);
    },
  },
  timestamp_local: {
    ...columnTypes.timestamp,
    sql: { postgres: "timestamp", duckdb: "TIMESTAMP", bigquery: "DATETIME" },
    parquet: timestampLeaf("MICROS", false),
  },
  timestamp_ns: {
    ...columnTypes.timestamp,
    sql: text.sql,
    parquet: timestampLeaf("NANOS", true),
    cellOf: nanosecondsOf,
  },
  timestamp_ns_local: {
    ...columnTypes.timestamp,
    sql: { ...text.sql, duckdb: "TIMESTAMP_NS" },
    parquet: timestampLeaf("NANOS", false),
    cellOf: nanosecondsOf,
  },
  uuid: {
    sql: { ...text.sql, postgres: "uuid", duckdb: "UUID" },
    parquet: {
      type: "FIXED_LEN_BYTE_ARRAY",
      type_length: 16,
      logical_type: { type: "UUID" },
    },
    // Any version and variant, unlike format "uuid".
    jsonSchema: { type: ["string", "null"] },
    cellOf: (value) => (uuid.test(value) ? value.toLowerCase() : undefined),
  },
};

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const dayMicros = 86_400_000_000n;

function nanosecondsOf(value: string): bigint | undefined {
  const micros = parseTimestamp(value);
  if (micros === null) return undefined;
  const [, digits = ""] = /\.\d{6}(\d{1,3})/.exec(value) ?? [];
  // The 64 bits reach from 1677 to 2262.
  return in64Bits(micros * 1000n + BigInt(digits.padEnd(3, "0")));
}

function timestampLeaf(unit: "MICROS" | "NANOS", isAdjustedToUTC: boolean): ParquetLeaf {
  return { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC, unit } };
}

/** Most digits of a decimal in Parquet files that other programs read, and in DuckDB. */
const maxDecimalDigits = 38;

export function decimalType(precision: number, scale: number): DecimalType | null {
  const fits = precision >= 1 && precision <= maxDecimalDigits && scale >= 0 && scale <= precision;
  return fits ? `decimal(${precision},${scale})` : null;
}

export function isDecimal(type: StoredType): type is DecimalType {
  return type.startsWith("decimal(");
}

export function decimalDigits(type: DecimalType): {
  readonly precision: number;
  readonly scale: number;
} {
  const [precision = 0, scale = 0] = type.slice("decimal(".length, -1).split(",").map(Number);
  return { precision, scale };
}

function decimal(type: DecimalType): StoredTypeFacts {
  const { precision, scale } = decimalDigits(type);
  const digits = `(${precision},${scale})`;
  // Data types, Numeric types: NUMERIC has 29 digits before the point and 9 after it.
  const bigquery = scale <= 9 && precision - scale <= 29 ? "NUMERIC" : "BIGNUMERIC";
  return {
    sql: {
      postgres: `numeric${digits}`,
      duckdb: `DECIMAL${digits}`,
      bigquery: `${bigquery}${digits}`,
    },
    parquet: decimalLeaf(precision, scale),
    jsonSchema: { type: ["number", "null"] },
    cellOf(value) {
      const [, sign = "", whole = "", fraction = ""] = plainDecimal.exec(value) ?? [];
      if (whole === "" || fraction.length > scale) return undefined;
      const unscaled = `${whole}${fraction.padEnd(scale, "0")}`.replace(/^0+(?=\d)/, "");
      return unscaled.length > precision ? undefined : BigInt(sign + unscaled);
    },
  };
}

const plainDecimal = /^(-?)(\d+)(?:\.(\d+))?$/;

/** The smallest integer that holds the digits (Parquet format, LogicalTypes.md, Decimal). */
function decimalLeaf(precision: number, scale: number): ParquetLeaf {
  const decimal = { precision, scale };
  const logical = {
    converted_type: "DECIMAL",
    ...decimal,
    logical_type: { type: "DECIMAL", ...decimal },
  } as const;
  if (precision <= 9) return { type: "INT32", ...logical };
  if (precision <= 18) return { type: "INT64", ...logical };
  return { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, ...logical };
}
