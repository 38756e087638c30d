import type { SchemaElement } from "hyparquet";
import { parseTimestamp, timeText } from "../../core/clock.js";
import type { ColumnType, ColumnValue } from "../../core/column.js";
import type { CellValue } from "./typed-column.js";

/** Physical and logical type of a Parquet column (Parquet format, LogicalTypes.md). */
export type ParquetLeaf = Omit<SchemaElement, "name" | "repetition_type">;

export interface StoredTypeFacts {
  readonly parquet: ParquetLeaf;
  /** JSON Schema of a value in flat NDJSON. */
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** The cell of an input's text; undefined if the type lacks the value. */
  readonly cellOf: (text: string) => CellValue | undefined;
}

interface ColumnTypeFacts extends StoredTypeFacts {
  /** The cell of a value that is not null. @param text makes a text storable */
  toCell(value: NonNullable<ColumnValue>, text: (value: string) => string): CellValue;
  toValue(cell: NonNullable<CellValue>): ColumnValue;
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
    toCell: (value, storable) => storable(String(value)),
    toValue: String,
    fromText: (value) => value || null,
  },
  boolean: {
    parquet: { type: "BOOLEAN" },
    jsonSchema: { type: ["boolean", "null"] },
    cellOf: (value) => booleans.get(value),
    toCell: (value) => value === true,
    toValue: (cell) => cell === true,
    fromText: (value) => (value === "" ? null : value === "true"),
  },
  count: {
    parquet: { type: "INT64" },
    jsonSchema: { type: ["integer", "null"], minimum: 0 },
    cellOf: (value) => (/^-?\d{1,19}$/.test(value) ? in64Bits(BigInt(value)) : undefined),
    toCell: (value) => BigInt(Number(value)),
    toValue: Number,
    fromText: numberFrom,
  },
  number: {
    parquet: { type: "DOUBLE" },
    jsonSchema: { type: ["number", "null"] },
    cellOf: (value) => (number.test(value) ? Number(value) : undefined),
    toCell: Number,
    toValue: Number,
    fromText: numberFrom,
  },
  timestamp: {
    parquet: {
      type: "INT64",
      converted_type: "TIMESTAMP_MICROS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
    },
    jsonSchema: { type: ["string", "null"], format: "date-time" },
    cellOf: (value) => parseTimestamp(value) ?? undefined,
    toCell: (value) => parseTimestamp(String(value)),
    toValue: (cell) => timeText(cell as bigint, 6),
    fromText: (value) => value || null,
  },
  json: {
    parquet: { ...text, converted_type: "JSON", logical_type: { type: "JSON" } },
    jsonSchema: {},
    cellOf: jsonCell,
    toCell: (value, storable) => storable(String(value)),
    toValue: String,
    fromText: (value) => value || null,
  },
  "text[]": {
    parquet: text,
    jsonSchema: { type: ["array", "null"], items: { type: "string" } },
    cellOf: () => undefined,
    toCell: (value, storable) => (Array.isArray(value) ? value.map(storable) : null),
    toValue: (cell) => (isTexts(cell) ? cell : null),
    fromText: joinedEntries,
  },
};

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

const number = /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|-?Infinity)$/i;

const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];

export function in64Bits(value: bigint): bigint | undefined {
  return value >= least && value <= most ? value : undefined;
}

function numberFrom(value: string): number | null {
  return value === "" ? null : Number(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

/**
 * JSON text as databases store it, or undefined if a database may refuse it. Escapes of U+0000 and of
 * lone surrogates become these characters, which no output stores: they are replaced with a warning.
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
