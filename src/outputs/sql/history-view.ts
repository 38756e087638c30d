import {
  type DialectName,
  quoteIdentifier,
  quoteTable,
  type TableName,
  viewSuffixes,
} from "./dialect.js";
import type { TableSchema } from "./table-schema.js";

/** Columns that the view needs, without the prefix. */
export const historyNeeds = ["kind", "item", "verdict", "looked_up_at"] as const;

/**
 * CREATE VIEW of periods: one row per item and verdict, for the runs in a row that gave the item that
 * verdict. A period begins when the rows of its first run were published and ends where the item's
 * next period begins; `valid_to` is NULL while it lasts. A run that lacks the item or knows no verdict
 * neither begins nor ends a period.
 */
export function createHistoryView(
  dialect: DialectName,
  table: TableName,
  { prefix, rowKey }: Pick<TableSchema, "prefix" | "rowKey">,
): string {
  const column = (plain: string): string => quoteIdentifier(dialect, prefix + plain);
  const item = `${column("kind")}, ${column("item")}`;
  const runId = column("run_id");
  const byRun = `OVER (PARTITION BY ${item} ORDER BY ${runId})`;
  const view = { ...table, name: table.name + viewSuffixes.history };
  return [
    `CREATE VIEW ${quoteTable(dialect, view)} AS`,
    "WITH answers AS (",
    `  SELECT ${item}, ${column("verdict")}, ${runId}, ${column("loaded_at")},`,
    `    row_number() OVER (PARTITION BY ${item}, ${runId} ORDER BY ${column("looked_up_at")} DESC NULLS LAST, ${quoteIdentifier(dialect, rowKey[1])} DESC) AS newest`,
    `  FROM ${quoteTable(dialect, table)}`,
    `  WHERE ${column("item")} IS NOT NULL AND ${column("verdict")} IS NOT NULL`,
    "), steps AS (",
    `  SELECT ${item}, ${column("verdict")}, ${runId},`,
    // A run that is resumed after the next one is published after it. No period ends before it begins.
    `    max(${column("loaded_at")}) ${byRun} AS since,`,
    `    CASE WHEN ${column("verdict")} = lag(${column("verdict")}) ${byRun} THEN 0 ELSE 1 END AS begins`,
    "  FROM answers WHERE newest = 1",
    "), numbered AS (",
    `  SELECT *, sum(begins) ${byRun} AS number FROM steps`,
    ")",
    `SELECT ${item}, ${column("verdict")}, min(since) AS valid_from,`,
    `  lead(min(since)) OVER (PARTITION BY ${item} ORDER BY number) AS valid_to,`,
    `  min(${runId}) AS first_run_id, max(${runId}) AS last_run_id, count(*) AS runs`,
    `FROM numbered GROUP BY ${item}, ${column("verdict")}, number;`,
  ].join("\n");
}
