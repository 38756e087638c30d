import { formatCount } from "../core/text/quantity.js";

/** Counted for each row with such a time. */
export const otherTimes =
  "row with a time that is not RFC 3339: CSV, TSV and NDJSON keep it, other outputs leave it out";

/** Message → number of times, and → first row. */
interface WarningCounts {
  readonly warnings: Readonly<Record<string, number>>;
  readonly warned_rows: Readonly<Record<string, number>>;
}

/** The warning about times of a run, whose values depend on the output; null for none. */
export function timeWarning({ warnings, warned_rows }: WarningCounts): string | null {
  const rows = warnings[otherTimes];
  return rows === undefined ? null : countedWarning(otherTimes, rows, warned_rows[otherTimes]);
}

/** A warning with the number of times it applies, and the first row. */
export function countedWarning(message: string, count: number, row?: number): string {
  const facts = [
    ...(count > 1 ? [`${formatCount(count)} times`] : []),
    ...(row === undefined ? [] : [`${count > 1 ? "first in row" : "row"} ${formatCount(row)}`]),
  ];
  return facts.length === 0 ? message : `${message} (${facts.join(", ")})`;
}

export type CountedWarning = readonly [message: string, count: number];
