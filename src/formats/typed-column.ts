import type { ColumnType } from "../core/columns.js";

/** A column of a table or a Parquet file. */
export interface TypedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** False for key columns. */
  readonly nullable: boolean;
}

/**
 * A typed cell: text, lists of text, booleans, counts as bigint, times as microseconds since 1970
 * in UTC.
 */
export type CellValue = string | bigint | boolean | readonly string[] | null;
