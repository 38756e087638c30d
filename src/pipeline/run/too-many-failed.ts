import type { MaxFailed } from "./row-limits.js";
import type { TallySnapshot } from "./tally.js";

/** Fewer lookups are too few for a share of them to mean anything. */
const leastLookedUp = 100;

/** Rows that were looked up, and those of them that failed. */
export interface LookedUp {
  readonly rows: number;
  readonly failed: number;
}

/** Rows with an item count; a line that could not be read was not looked up. */
export function lookedUp({
  kinds,
  statuses,
  errors,
}: Pick<TallySnapshot, "kinds" | "statuses" | "errors">): LookedUp {
  const rows = Object.values(kinds).reduce((sum, n) => sum + n, 0);
  return { rows, failed: statuses.failed - (errors["input_row"] ?? 0) };
}

/**
 * True when a finished run has more failed rows than `--max-failed` allows. A count applies to all
 * failed rows; a share applies to the rows that were looked up, from 100 of them on.
 */
export function tooManyFailed(limit: MaxFailed, tally: TallySnapshot): boolean {
  if ("rows" in limit) return tally.statuses.failed > limit.rows;
  const { rows, failed } = lookedUp(tally);
  return rows >= leastLookedUp && failed * 100 > limit.percent * rows;
}
