import { parseTimestamp, timeText } from "../../core/clock.js";
import type { ColumnType, ColumnValue } from "../../core/column.js";

/** A decimal number with at most 38 digits: `decimal(18,4)` has 18, 4 of them after the point. */
type DecimalType = `decimal(${number},${number})`;

/** Types that a column is stored as: `ColumnType` for added columns, the others for input columns alone. */
export type StoredType =
  | ColumnType
  | DecimalType
  | "integer"
  | "float"
  | "numeric"
  | "date"
  | "timestamp_local"
  | "timestamp_ns"
  | "timestamp_ns_local"
  | "uuid";

export type PlainType = Exclude<StoredType, DecimalType>;

export interface TypedColumn {
  readonly name: string;
  readonly type: StoredType;
  /** False for key columns. */
  readonly nullable: boolean;
}

export interface InputType {
  /** Null for a type that outputs store as text. */
  readonly type: StoredType | null;
  /** Name of the type in the input, for messages. */
  readonly declared: string;
}

/**
 * A typed cell: text, lists of text, booleans, integers and unscaled decimals as bigint, other
 * numbers, days since 1970, times as microseconds or nanoseconds since 1970 in UTC.
 */
export type CellValue = string | bigint | number | boolean | readonly string[] | null;

/** Physical and logical type of a Parquet column (Parquet format, LogicalTypes.md). */
interface ParquetLeaf {
  // Copied from hyparquet's types: ours must compile without optional packages.
  type: "BOOLEAN" | "INT32" | "INT64" | "FLOAT" | "DOUBLE" | "BYTE_ARRAY" | "FIXED_LEN_BYTE_ARRAY";
  type_length?: number;
  converted_type?: "UTF8" | "JSON" | "DATE" | "DECIMAL" | "TIMESTAMP_MICROS";
  precision?: number;
  scale?: number;
  logical_type?:
    | { type: "STRING" | "JSON" | "DATE" | "UUID" }
    | { type: "DECIMAL"; precision: number; scale: number }
    | { type: "TIMESTAMP"; isAdjustedToUTC: boolean; unit: "MICROS" | "NANOS" };
}

interface StoredTypeFacts {
  readonly parquet: ParquetLeaf;
  /** JSON Schema of a value in flat NDJSON. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** Parses an input's text; undefined if it is not a value of this type. */
  readonly cellOf: (text: string) => CellValue | undefined;
}

interface ColumnTypeFacts extends StoredTypeFacts {
  /** The text of a value, in a form that every database reads; null if there is none. */
  toText(value: NonNullable<ColumnValue>): string | readonly string[] | null;
  /** Parses the text of a value, "" for null; the entries of a list are joined with `|`. */
  fromText(text: string): ColumnValue;
}

const text: ParquetLeaf = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
};

/** The types of added columns. A new one is an entry here, and what a driver needs of it. */
export const columnTypes: Readonly<Record<ColumnType, ColumnTypeFacts>> = {
  text: {
    parquet: text,
    jsonSchema: { type: ["string", "null"] },
    cellOf: String,
    toText: String,
    fromText: (value) => value || null,
  },
  boolean: {
    parquet: { type: "BOOLEAN" },
    jsonSchema: { type: ["boolean", "null"] },
    cellOf: (value) => (/^(?:true|false)$/.test(value) ? value === "true" : undefined),
    toText: (value) => String(value === true),
    fromText: (value) => (value === "" ? null : value === "true"),
  },
  count: {
    parquet: { type: "INT64" },
    jsonSchema: { type: ["integer", "null"], minimum: 0 },
    cellOf: (value) => (/^-?\d{1,19}$/.test(value) ? in64Bits(BigInt(value)) : undefined),
    toText: (value) => String(BigInt(Number(value))),
    fromText: numberFrom,
  },
  number: {
    parquet: { type: "DOUBLE" },
    jsonSchema: { type: ["number", "null"] },
    cellOf: (value) => (number.test(value) ? Number(value) : undefined),
    toText: (value) => numberText(Number(value)),
    fromText: numberFrom,
  },
  timestamp: {
    parquet: { ...timestampLeaf("MICROS", true), converted_type: "TIMESTAMP_MICROS" },
    jsonSchema: { type: ["string", "null"], format: "date-time" },
    cellOf: microsOf,
    toText(value) {
      const micros = microsOf(String(value));
      return micros === undefined ? null : timeText(micros, 6);
    },
    fromText: (value) => value || null,
  },
  json: {
    parquet: { ...text, converted_type: "JSON", logical_type: { type: "JSON" } },
    jsonSchema: {},
    cellOf: jsonCell,
    toText: String,
    fromText: (value) => value || null,
  },
  "text[]": {
    parquet: text,
    jsonSchema: { type: ["array", "null"], items: { type: "string" } },
    cellOf: () => undefined,
    toText: (value) => (typeof value === "object" ? value : null),
    fromText: joinedEntries,
  },
};

/** Microseconds since 1970; undefined outside the years 1 to 9999, which every database accepts. */
function microsOf(value: string): bigint | undefined {
  const micros = parseTimestamp(value);
  return micros === null || micros < firstMicros || micros > lastMicros ? undefined : micros;
}

const [firstMicros, lastMicros] = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"].map(
  (time) => parseTimestamp(time)!,
) as [bigint, bigint];

const number = /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|-?Infinity)$/i;

const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];

function in64Bits(value: bigint): bigint | undefined {
  return value >= least && value <= most ? value : undefined;
}

function numberFrom(value: string): number | null {
  return value === "" ? null : Number(value);
}

/**
 * JSON text that every database accepts; undefined for other text. The stage has already replaced what
 * no output stores, such as U+0000.
 */
function jsonCell(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return mayBeHuge.test(text) && mayBeHuge.test(text.replaceAll(strings, '""')) ? undefined : text;
}

/** Numbers that may exceed numeric in PostgreSQL (manual, table 8.2). */
const mayBeHuge = /\de[+-]?\d{5}|\d{10000}/i;

const strings = /"(?:[^"\\]|\\[^])*"/g;

/** The entries of a list that is joined with `|`. One that contains `|` counts as several, in every format. */
export function joinedEntries(joined: string): readonly string[] {
  return joined === "" ? [] : joined.split("|");
}

export function storedType(type: StoredType): StoredTypeFacts {
  return isDecimal(type) ? decimal(type) : storedTypes[type];
}

/** Whether Parquet has no such type, and stores its values as text. */
export function parquetLacks(type: StoredType): boolean {
  return storedType(type).parquet === columnTypes.text.parquet && type !== "text";
}

const storedTypes: Readonly<Record<PlainType, StoredTypeFacts>> = {
  ...columnTypes,
  integer: { ...columnTypes.count, jsonSchema: { type: ["integer", "null"] } },
  float: { ...columnTypes.number, parquet: { type: "FLOAT" } },
  numeric: {
    parquet: columnTypes.text.parquet,
    jsonSchema: columnTypes.number.jsonSchema,
    cellOf: (value) => (columnTypes.number.cellOf(value) === undefined ? undefined : value),
  },
  date: {
    parquet: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
    jsonSchema: { type: ["string", "null"], format: "date" },
    cellOf(value) {
      const micros = microsOf(`${value}T00:00:00Z`);
      return micros === undefined ? undefined : Number(micros / dayMicros);
    },
  },
  timestamp_local: { ...columnTypes.timestamp, parquet: timestampLeaf("MICROS", false) },
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
  const micros = microsOf(value);
  if (micros === undefined) return undefined;
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

/** A decimal number from its digits without the point. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The shortest text of a number, with the sign of zero. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** The shortest text of a 32-bit float, which as a 64-bit one would have false digits. */
export function floatText(value: number): string {
  if (value === 0) return numberText(value);
  for (let precision = 6; precision < 10; precision++) {
    const short = Number(value.toPrecision(precision));
    if (Math.fround(short) === value) return numberText(short);
  }
  return numberText(value);
}
