import type { TableInput } from "../../outputs/tables/types.js";

/** The table that an input names, or null for text. Its reader is loaded only for a table. */
export async function findTableInput(path: string): Promise<TableInput | null> {
  if (!/^(?:duckdb|postgres(?:ql)?):|\.(?:parquet(?:\.failed)?|duckdb|ddb)$/i.test(path))
    return null;
  const { findTable } = await import("../../outputs/tables/find-table.js");
  return findTable(path);
}
