import { type DialectName, quoteIdentifier, quoteTable, type TableName } from "../sql/dialect.js";
import type { TableSession } from "./table-database.js";

/** Counts the rows of a run in a table. @param table including its schema */
export async function countRun(
  { query }: Pick<TableSession, "query">,
  dialect: DialectName,
  table: TableName,
  { runId, prefix }: { readonly runId: string; readonly prefix: string },
): Promise<number> {
  const column = quoteIdentifier(dialect, `${prefix}run_id`);
  const from = quoteTable(dialect, table);
  const [found] = await query(`SELECT count(*) FROM ${from} WHERE ${column} = $1`, [runId]);
  return Number(found?.[0] ?? 0);
}
