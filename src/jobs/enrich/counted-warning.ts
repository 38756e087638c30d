import { formatCount } from "../../core/text/quantity.js";

/** Counted for each row with such a time. */
export const otherTimes =
  "row with a time that is not RFC 3339: CSV, TSV and NDJSON keep it, other outputs leave it out";

/** Counted for each row or result with such an answer. */
export const otherWords =
  "answer with an intent or mail blocklist status that the interface does not list: it accuses nobody, and keeps the verdict from being none";

/** Message → number of times, and → first row. */
interface WarningCounts {
  readonly warnings: Readonly<Record<string, number>>;
  readonly warned_rows: Readonly<Record<string, number>>;
}

/** The warnings about values of answers that the interface does not list. */
export function valueWarnings({ warnings, warned_rows }: WarningCounts): readonly string[] {
  return [otherTimes, otherWords].flatMap((message) => {
    const rows = warnings[message];
    return rows === undefined ? [] : [countedWarning(message, rows, warned_rows[message])];
  });
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
