import { countStatuses } from "../warehouse/count-statuses.js";
import { quoteIdentifier, quoteTable } from "../warehouse/dialect.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import type { WarehouseAudit, WarehouseRun } from "../warehouse/types.js";
import type { DuckdbDatabase } from "./duckdb-database.js";

/** Counts the rows of a run by status. @throws FatalError `output_*` */
export async function countRun(
  database: DuckdbDatabase,
  { table, display }: DuckdbTarget,
  { runId, prefix }: WarehouseRun,
): Promise<WarehouseAudit> {
  const quote = (name: string): string => quoteIdentifier("duckdb", prefix + name);
  const counts = await database.run(
    `SELECT ${quote("status")}, count(*) FROM ${quoteTable("duckdb", table)}
     WHERE ${quote("run_id")} = ? GROUP BY ALL`,
    [runId],
  );
  return countStatuses(
    counts.map(([status, rows]) => [status === null ? null : String(status), Number(rows)]),
    display,
  );
}
