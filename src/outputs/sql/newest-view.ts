import {
  type DialectName,
  quoteIdentifier,
  quoteTable,
  type TableName,
  viewSuffixes,
} from "./dialect.js";
import type { TableSchema } from "./table-schema.js";

/** Columns that the view needs, without the prefix. */
export const newestNeeds = ["kind", "item", "looked_up_at"] as const;

/**
 * CREATE VIEW of each item's newest row: the one with the latest answer, with a stable choice among
 * rows that share an answer. Rows without an item are excluded.
 */
export function createNewestView(
  dialect: DialectName,
  table: TableName,
  { prefix, rowKey }: Pick<TableSchema, "prefix" | "rowKey">,
): string {
  const quote = (name: string): string => quoteIdentifier(dialect, name);
  const item = `${quote(`${prefix}kind`)}, ${quote(`${prefix}item`)}`;
  const order = `${quote(`${prefix}status`)} = 'failed', ${quote(`${prefix}looked_up_at`)} DESC NULLS LAST, ${quote(rowKey[0])} DESC, ${quote(rowKey[1])} DESC`;
  const known = `WHERE ${quote(`${prefix}item`)} IS NOT NULL`;
  const from = `FROM ${quoteTable(dialect, table)}`;
  const select =
    dialect === "postgres"
      ? [`SELECT DISTINCT ON (${item}) *`, from, known, `ORDER BY ${item}, ${order}`]
      : [
          "SELECT *",
          from,
          known,
          `QUALIFY row_number() OVER (PARTITION BY ${item} ORDER BY ${order}) = 1`,
        ];
  const view = quoteTable(dialect, { ...table, name: table.name + viewSuffixes.newest });
  return `CREATE VIEW ${view} AS\n${select.join("\n")};`;
}
