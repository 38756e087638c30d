import { parseTimestamp } from "../../core/clock.js";
import { columnTypes, in64Bits, type ParquetLeaf, type StoredTypeFacts } from "./column-types.js";
import type { DecimalType, PlainType, StoredType } from "./typed-column.js";

export function storedType(type: StoredType): StoredTypeFacts {
  return isDecimal(type) ? decimal(type) : storedTypes[type];
}

/** Whether Parquet files have values of a type as text. */
export function parquetLacks(type: StoredType): boolean {
  return storedType(type).parquet === text.parquet && type !== "text";
}

const { text } = columnTypes;

const storedTypes: Readonly<Record<PlainType, StoredTypeFacts>> = {
  ...columnTypes,
  integer: { ...columnTypes.count, jsonSchema: { type: ["integer", "null"] } },
  float: {
    ...columnTypes.number,
    parquet: { type: "FLOAT" },
  },
  numeric: {
    parquet: text.parquet,
    jsonSchema: columnTypes.number.jsonSchema,
    cellOf: (value) => (columnTypes.number.cellOf(value) === undefined ? undefined : value),
  },
  date: {
    parquet: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
    jsonSchema: { type: ["string", "null"], format: "date" },
    cellOf(value) {
      const micros = parseTimestamp(`${value}T00:00:00Z`);
      return micros === null ? undefined : Number(micros / dayMicros);
    },
  },
  timestamp_local: {
    ...columnTypes.timestamp,
    parquet: timestampLeaf("MICROS", false),
  },
  timestamp_ns: {
    ...columnTypes.timestamp,
    parquet: timestampLeaf("NANOS", true),
    cellOf: nanosecondsOf,
  },
  timestamp_ns_local: {
    ...columnTypes.timestamp,
    parquet: timestampLeaf("NANOS", false),
    cellOf: nanosecondsOf,
  },
  uuid: {
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
  return {
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
