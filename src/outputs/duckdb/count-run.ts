import { auditCounts } from "../warehouse/audit-counts.js";
import { quoteIdentifier, quoteTable } from "../warehouse/dialect.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import type { WarehouseAudit, WarehouseRun } from "../warehouse/types.js";
import type { DuckdbDatabase } from "./duckdb-database.js";

/** Counts the rows of a run by status and verdict. @throws FatalError `output_*` */
export async function countRun(
  database: DuckdbDatabase,
  { table, display }: DuckdbTarget,
  { runId, prefix, hasVerdicts = true }: WarehouseRun,
): Promise<WarehouseAudit> {
  const quote = (name: string): string => quoteIdentifier("duckdb", prefix + name);
  const counts = await database.run(
    `SELECT ${quote("status")}, ${hasVerdicts ? quote("verdict") : "NULL"}, count(*)
     FROM ${quoteTable("duckdb", table)} WHERE ${quote("run_id")} = ? GROUP BY ALL`,
    [runId],
  );
  return auditCounts(
    counts.map(([status, verdict, rows]) => ({
      status: status === null ? null : String(status),
      verdict: verdict === null ? null : String(verdict),
      rows: Number(rows),
    })),
    display,
    hasVerdicts,
  );
}
