import {
  type DialectName,
  newestViewSuffix,
  quoteIdentifier,
  quoteTable,
  type TableName,
} from "./dialect.js";
import type { TableSchema } from "./table-schema.js";

/**
 * CREATE VIEW of each item's newest row: the one with the latest answer, with a stable choice among
 * rows that share an answer. Rows without an item are excluded. Null for a table without the columns
 * that tell them.
 * @param create CREATE OR REPLACE for a table with new columns, which an existing view lacks
 */
export function createNewestView(
  dialect: DialectName,
  table: TableName,
  { prefix, rowKey, columns }: ViewedTable,
  create = "CREATE VIEW",
): string | null {
  const needed = ["kind", "item", "looked_up_at"].map((name) => prefix + name);
  if (!needed.every((wanted) => columns.some(({ name }) => name === wanted))) return null;
  const quote = (name: string): string => quoteIdentifier(dialect, name);
  const item = `${quote(`${prefix}kind`)}, ${quote(`${prefix}item`)}`;
  const order = `${quote(`${prefix}looked_up_at`)} DESC NULLS LAST, ${quote(rowKey[0])} DESC, ${quote(rowKey[1])} DESC`;
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
  const view = quoteTable(dialect, { ...table, name: newestViewName(table.name) });
  return `${create} ${view} AS\n${select.join("\n")};`;
}

type ViewedTable = Pick<TableSchema, "prefix" | "rowKey"> & {
  readonly columns: readonly { readonly name: string }[];
};

/** Name of the view beside a table. */
export function newestViewName(table: string): string {
  return table + newestViewSuffix;
}
