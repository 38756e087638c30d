import { FatalError } from "../../core/errors.js";
import { findingStatuses } from "../../core/finding.js";
import type { FindingStatus } from "../../core/finding.js";
import type { WarehouseAudit } from "./types.js";

/**
 * Sums up what a database counted of a run.
 *
 * @param counts rows of each status
 * @param display what to call the table in messages
 * @throws FatalError `output_corrupt` when rows have no status that is known
 */
export function countStatuses(
  counts: readonly (readonly [status: string | null, rows: number])[],
  display: string,
): WarehouseAudit {
  const statuses = Object.fromEntries(findingStatuses.map((name) => [name, 0])) as Record<
    FindingStatus,
    number
  >;
  let rows = 0;
  for (const [status, count] of counts) {
    if (status === null || !Object.hasOwn(statuses, status)) {
      throw new FatalError("output_corrupt", `${display} has rows without a status`);
    }
    statuses[status as FindingStatus] = count;
    rows += count;
  }
  return { bytes: null, rows, statuses, sha256: null };
}

/** There is no such table to count in. */
export function tableMissing(display: string): FatalError {
  return new FatalError("output_missing", `there is no table ${display}`);
}
