import { formatCount } from "../../core/wording/quantity.js";

/** Counts by a name that the data brings. */
export type Counts = Map<string, number>;

/** Maximum number of distinct names per counter; further ones are counted under `otherNames`. */
const maxNames = 10_000;

/** Name under which a counter sums up the names beyond its maximum. */
export const otherNames = "(others)";

export function addCount(counts: Counts, name: string, n = 1, most = maxNames): void {
  const counted = counts.size < most || counts.has(name) ? name : otherNames;
  counts.set(counted, (counts.get(counted) ?? 0) + n);
}

/** Most frequent first. `fromEntries` makes a name such as `__proto__` an ordinary member. */
export function mostFrequentFirst(counts: Counts): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)));
}

/** Counted for each row with such a time. */
export const otherTimes =
  "row with a time that is not RFC 3339: CSV, TSV and NDJSON keep it, other outputs leave it out";

/** Counted for each row or result with such an answer. */
export const otherWords =
  "answer with an intent or mail blocklist status that the interface does not list: it accuses nobody, and keeps the verdict from being none";

/** A warning with the number of times it applies, and the first row. */
export function countedWarning(message: string, count: number, row?: number): string {
  const facts = [
    ...(count > 1 ? [`${formatCount(count)} times`] : []),
    ...(row === undefined ? [] : [`${count > 1 ? "first in row" : "row"} ${formatCount(row)}`]),
  ];
  return facts.length === 0 ? message : `${message} (${facts.join(", ")})`;
}
