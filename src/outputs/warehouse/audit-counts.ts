import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row-counter.js";
import type { WarehouseAudit } from "./types.js";

/** How many rows of a run have this status and this verdict; null for none. */
export interface FactsCount {
  readonly status: string | null;
  readonly verdict: string | null;
  readonly rows: number;
}

/**
 * Sums up what a database counted of a run.
 *
 * @param display what to call the table in messages
 * @param hasVerdicts false for a run of schema version 1
 * @throws FatalError `output_corrupt` when rows have an unknown status or verdict
 */
export function auditCounts(
  counts: readonly FactsCount[],
  display: string,
  hasVerdicts = true,
): WarehouseAudit {
  const counter = new RowCounter(hasVerdicts);
  for (const { status, verdict, rows } of counts) {
    const fault = counter.count(status, verdict, rows);
    if (fault !== null) throw new FatalError("output_corrupt", `${display} has rows with ${fault}`);
  }
  return { bytes: null, ...counter.found(), sha256: null };
}

/** There is no such table to count in. */
export function tableMissing(display: string): FatalError {
  return new FatalError("output_missing", `there is no table ${display}`);
}
