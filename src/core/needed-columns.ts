import { lackedColumns, type OptionalColumns } from "./columns.js";
import { UsageError } from "./errors.js";
import { counted } from "./text/quantity.js";

/** Columns without which a report cannot tell an item and its verdict. */
export const reportedColumns = ["item", "kind", "status", "verdict"] as const;

/** Columns that tell a retry what was found and what is missing. */
export const retriedColumns = [
  ...reportedColumns,
  "missing",
  "type",
  "intent",
  "mail_blocklist",
  "quick_mail_blocklist",
  "quick_intent",
  "quick_activity",
  "source",
  "error_code",
  "error",
] as const;

/** @throws UsageError `columns_missing` if an output lacks columns that a command needs */
export function mustHaveColumns(
  path: string,
  needed: readonly string[],
  has: OptionalColumns,
): void {
  const lacking = lackedColumns(needed, has);
  if (lacking.length === 0) return;
  const what = `${counted(lacking.length, "column")} that this needs`;
  throw new UsageError("columns_missing", `${path} lacks ${what}: ${lacking.join(", ")}`, {
    hint: "it was written with --columns: run enrich again with these columns listed, or without --columns",
  });
}
