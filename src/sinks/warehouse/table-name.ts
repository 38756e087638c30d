import { UsageError } from "../../core/errors.js";
import type { TableName } from "./dialect.js";

/** Table that is written when none is named. */
export const defaultTable = "enriched";

/**
 * Reads `table` or `schema.table`; the first dot divides them.
 *
 * @throws UsageError `bad_table` when a part is empty or holds U+0000
 */
export function parseTableName(text: string): TableName {
  const dot = text.indexOf(".");
  const schema = dot < 0 ? null : text.slice(0, dot);
  const name = text.slice(dot + 1);
  if (name === "" || schema === "" || text.includes("\0")) {
    throw new UsageError("bad_table", `${JSON.stringify(text)} names no table`, {
      hint: "write table=NAME or table=SCHEMA.NAME",
    });
  }
  return { schema, name };
}

/** A table's name as it was written, for messages. */
export function tableText({ schema, name }: TableName): string {
  return schema === null ? name : `${schema}.${name}`;
}
