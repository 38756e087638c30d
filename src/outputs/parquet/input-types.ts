import type { LogicalType, SchemaElement, SchemaTree } from "hyparquet";
import { decimalType } from "../../formats/stored-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";

export function parquetType({ element, children }: SchemaTree): InputType {
  const isScalar = children.length === 0 && element.repetition_type !== "REPEATED";
  return {
    type: isScalar ? scalarType(element) : null,
    declared: isScalar ? declaredName(element) : nestedName(element),
  };
}

function nestedName({ converted_type: converted, logical_type: logical }: SchemaElement): string {
  const name = logical?.type ?? converted;
  return name === "LIST"
    ? "a list"
    : name === "MAP" || name === "MAP_KEY_VALUE"
      ? "a map"
      : "nested";
}

function declaredName({ type, converted_type: converted, logical_type: logical }: SchemaElement) {
  if (logical?.type === "TIMESTAMP") return `TIMESTAMP(${logical.unit})`;
  return logical?.type ?? converted ?? type ?? "untyped";
}

function scalarType(element: SchemaElement): StoredType | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (logical?.type === "DECIMAL" || converted === "DECIMAL") return decimalIn(element);
  if (logical !== undefined) {
    const known = logicalType(logical);
    if (known !== undefined) return known;
  }
  if (converted !== undefined && Object.hasOwn(convertedTypes, converted)) {
    return convertedTypes[converted as keyof typeof convertedTypes];
  }
  // Bytes without a type are mostly text of old writers.
  return type === undefined ? null : (physicalTypes[type] ?? null);
}

function decimalIn({ precision, scale, logical_type: logical }: SchemaElement): StoredType {
  const own = logical?.type === "DECIMAL" ? logical : null;
  return decimalType(precision ?? own?.precision ?? 0, scale ?? own?.scale ?? 0) ?? "numeric";
}

/** Undefined if the physical type decides. */
function logicalType(logical: LogicalType): StoredType | null | undefined {
  if (logical.type === "INTEGER") {
    return logical.bitWidth === 64 && !logical.isSigned ? "decimal(20,0)" : "integer";
  }
  if (logical.type === "TIMESTAMP") {
    const { unit, isAdjustedToUTC } = logical;
    if (unit === "NANOS") return isAdjustedToUTC ? "timestamp_ns" : "timestamp_ns_local";
    return isAdjustedToUTC ? "timestamp" : "timestamp_local";
  }
  return logical.type === "NULL" ? undefined : (logicalTypes.get(logical.type) ?? null);
}

const logicalTypes: ReadonlyMap<LogicalType["type"], StoredType> = new Map([
  ["DATE", "date"],
  ["UUID", "uuid"],
  ["JSON", "json"],
  ["FLOAT16", "float"],
  ["STRING", "text"],
  ["ENUM", "text"],
]);

const convertedTypes = {
  UTF8: "text",
  ENUM: "text",
  DATE: "date",
  JSON: "json",
  TIMESTAMP_MILLIS: "timestamp",
  TIMESTAMP_MICROS: "timestamp",
  UINT_64: "decimal(20,0)",
  TIME_MILLIS: null,
  TIME_MICROS: null,
  INTERVAL: null,
  BSON: null,
} as const satisfies Partial<Record<string, StoredType | null>>;

const physicalTypes: Readonly<Partial<Record<string, StoredType>>> = {
  BOOLEAN: "boolean",
  INT32: "integer",
  INT64: "integer",
  // Nanoseconds of programs that know no time zone.
  INT96: "timestamp_ns_local",
  FLOAT: "float",
  DOUBLE: "number",
  BYTE_ARRAY: "text",
};
