import type { SchemaElement } from "hyparquet";
import type { ColumnType } from "../../core/columns.js";
import type { SqlColumn } from "../warehouse/dialect.js";

type Leaf = Omit<SchemaElement, "name" | "repetition_type">;

const text: Leaf = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
};

/** Physical and logical types (parquet-format, LogicalTypes). Times are instants in UTC. */
const leaves: Readonly<Record<Exclude<ColumnType, "text[]">, Leaf>> = {
  text,
  boolean: { type: "BOOLEAN" },
  count: { type: "INT64" },
  timestamp: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
};

/** The table as Parquet's flattened tree. */
export function parquetSchema(columns: readonly SqlColumn[]): SchemaElement[] {
  return [{ name: "root", num_children: columns.length }, ...columns.flatMap(elements)];
}

function elements({ name, type, nullable }: SqlColumn): SchemaElement[] {
  if (type !== "text[]") {
    return [{ name, repetition_type: nullable ? "OPTIONAL" : "REQUIRED", ...leaves[type] }];
  }
  // The three levels of a list (LogicalTypes, Lists).
  return [
    {
      name,
      repetition_type: "OPTIONAL",
      converted_type: "LIST",
      logical_type: { type: "LIST" },
      num_children: 1,
    },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "REQUIRED", ...text },
  ];
}
