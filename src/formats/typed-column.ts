import type { ColumnType } from "../core/column.js";

/** A column of a table or a Parquet file. */
export interface TypedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** False for key columns. */
  readonly nullable: boolean;
}

/**
 * A typed cell: text, lists of text, booleans, counts as bigint, other numbers, times as
 * microseconds since 1970 in UTC.
 */
export type CellValue = string | bigint | number | boolean | readonly string[] | null;
