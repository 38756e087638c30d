import type { SchemaElement, SchemaTree } from "hyparquet";
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
  const name = logical?.type ?? converted ?? "";
  if (name === "LIST") return "a list";
  return name.startsWith("MAP") ? "a map" : "nested";
}

function declaredName({ type, converted_type: converted, logical_type: logical }: SchemaElement) {
  if (logical?.type === "TIMESTAMP") return `TIMESTAMP(${logical.unit})`;
  return logical?.type ?? converted ?? type ?? "untyped";
}

function scalarType(element: SchemaElement): StoredType | null {
  const { type, converted_type: converted, logical_type: logical } = element;
  if (logical?.type === "DECIMAL" || converted === "DECIMAL") return decimalIn(element);
  if (logical?.type === "INTEGER") {
    return logical.bitWidth === 64 && !logical.isSigned ? "decimal(20,0)" : "integer";
  }
  if (logical?.type === "TIMESTAMP") {
    const { unit, isAdjustedToUTC } = logical;
    if (unit === "NANOS") return isAdjustedToUTC ? "timestamp_ns" : "timestamp_ns_local";
    return isAdjustedToUTC ? "timestamp" : "timestamp_local";
  }
  const names = [logical?.type, converted, type].filter((name) => name !== undefined);
  const known = names.find((name) => Object.hasOwn(scalarTypes, name));
  return known === undefined ? null : (scalarTypes[known] ?? null);
}

function decimalIn({ precision, scale, logical_type: logical }: SchemaElement): StoredType {
  const own = logical?.type === "DECIMAL" ? logical : null;
  return decimalType(precision ?? own?.precision ?? 0, scale ?? own?.scale ?? 0) ?? "numeric";
}

/** By logical, else converted, else physical type. Null becomes text, with a warning. */
const scalarTypes: Readonly<Record<string, StoredType | null>> = {
  DATE: "date",
  UUID: "uuid",
  JSON: "json",
  FLOAT16: "float",
  STRING: "text",
  ENUM: "text",
  TIME: null,
  INTERVAL: null,
  BSON: null,
  GEOMETRY: null,
  GEOGRAPHY: null,
  VARIANT: null,
  UTF8: "text",
  TIMESTAMP_MILLIS: "timestamp",
  TIMESTAMP_MICROS: "timestamp",
  UINT_64: "decimal(20,0)",
  TIME_MILLIS: null,
  TIME_MICROS: null,
  BOOLEAN: "boolean",
  INT32: "integer",
  INT64: "integer",
  // Nanoseconds of programs that know no time zone.
  INT96: "timestamp_ns_local",
  FLOAT: "float",
  DOUBLE: "number",
  // Bytes without a type are mostly text of old writers.
  BYTE_ARRAY: "text",
};
