import { formatCount, formatSeconds } from "../core/text/quantity.js";
import { outcomeNames } from "./headline.js";
import type { Series } from "./types.js";

export interface Night {
  readonly runId: string;
  readonly startedAt: string;
  readonly rows: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly verdicts: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly seconds: number;
  /** Answers with a value that the interface does not list. */
  readonly drift: number;
}

const nightsShown = 60;

/** Nights before the last that are needed to call it unusual. */
export const fewestNights = 5;

/** Modified z-score above which a value is an outlier (Iglewicz and Hoaglin, 1993). */
const threshold = 3.5;

/** Makes the median absolute deviation comparable to a standard deviation. */
const normal = 1.4826;

/**
 * Smallest spread that counts, as a share of the median: a figure that never changed is not unusual
 * the first time it moves a little.
 */
const leastSpread = 0.02;

/**
 * The figures of the nights in order of their start, the last one being tonight's. A figure that was
 * zero every night is left out, except for the rows.
 *
 * A value is an outlier if it differs from the median of the nights before by more than 3.5 times
 * their spread. The spread is 1.4826 times the median absolute deviation, and at least 2% of the
 * median and 1. Five nights before it are needed.
 */
export function historyOf(nights: readonly Night[]): readonly Series[] {
  const shown = nights.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1)).slice(-nightsShown);
  const names = (member: "statuses" | "verdicts"): string[] => [
    ...new Set(shown.flatMap((night) => Object.keys(night[member]))),
  ];
  return [
    seriesOf("rows", shown, (night) => night.rows),
    ...names("verdicts").map((name) =>
      seriesOf(verdictLabel(name), shown, ({ verdicts }) => verdicts[name] ?? 0),
    ),
    ...names("statuses").map((name) =>
      seriesOf(name, shown, ({ statuses }) => statuses[name] ?? 0),
    ),
    seriesOf("requests", shown, ({ requests }) => requests),
    seriesOf("duration", shown, ({ seconds }) => seconds, "seconds"),
    seriesOf("drift", shown, ({ drift }) => drift),
  ].filter(({ name, values }) => name === "rows" || values.some((value) => value > 0));
}

/** Spells out what is missing, where a verdict alone would say "none". */
function verdictLabel(name: string): string {
  return name === "none" ? outcomeNames.none : name;
}

function seriesOf(
  name: string,
  nights: readonly Night[],
  valueOf: (night: Night) => number,
  unit: Series["unit"] = "count",
): Series {
  const values = nights.map(valueOf);
  const before = values.slice(0, -1);
  const usual = before.length === 0 ? null : median(before);
  return { name, unit, values, usual, isOutlier: isOutlier(before, values.at(-1) ?? 0) };
}

/** Whether a value is far from those before it; see `historyOf`. */
function isOutlier(before: readonly number[], value: number): boolean {
  if (before.length < fewestNights) return false;
  const middle = median(before);
  const deviation = normal * median(before.map((each) => Math.abs(each - middle)));
  const spread = Math.max(deviation, leastSpread * Math.abs(middle), 1);
  return Math.abs(value - middle) > threshold * spread;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[half] ?? 0)
    : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

export function shownValue({ unit }: Pick<Series, "unit">, value: number): string {
  return unit === "seconds" ? formatSeconds(value) : formatCount(Math.round(value));
}
