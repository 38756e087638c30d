import type { ColumnType } from "../../core/column.js";

/** A decimal number with at most 38 digits: `decimal(18,4)` has 18, 4 of them after the point. */
export type DecimalType = `decimal(${number},${number})`;

/**
 * Types of stored columns: those of added columns, and those that only input columns have.
 * `stored-types.ts` has what each output makes of them.
 */
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
