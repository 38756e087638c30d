import { scaleUtc } from "d3-scale";

type Series = "firstSeen" | "lastSeen";

interface Bucket extends Record<Series, number> {
  /** Such as `2026-03`. */
  readonly name: string;
  readonly start: number;
}

export interface Timeline {
  readonly unit: keyof typeof nameLengths;
  readonly buckets: readonly Bucket[];
  readonly end: number;
  readonly earlier: number;
  /** Places on the axis that are named. */
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

/** Length of a bucket's name, a prefix of its days. */
const nameLengths = { day: 10, month: 7, year: 4 } as const;

const dayMs = 86_400_000;

/** Rows by day, such as `2026-01-31`. */
type Days = ReadonlyMap<string, number>;

/** The times of a report; null when no row has one. The oldest hundredth is not drawn but counted. */
export function timelineOf(seen: Readonly<Record<Series, Days>>): Timeline | null {
  const known = [seen.firstSeen, seen.lastSeen].filter(({ size }) => size > 0);
  if (known.length === 0) return null;
  const from = Math.min(...known.map((days) => quantile(days, 0.01)));
  const to = Math.max(...known.map((days) => quantile(days, 1)));
  const days = (to - from) / dayMs;
  const unit = days <= 45 ? "day" : days <= 3 * 366 ? "month" : "year";
  const nameOf = (time: number) => new Date(time).toISOString().slice(0, nameLengths[unit]);
  const buckets = new Map<string, Bucket>();
  let end = from;
  for (; end <= to || buckets.has(nameOf(end)); end += dayMs) {
    const name = nameOf(end);
    if (buckets.has(name)) continue;
    buckets.set(name, { name, start: Date.parse(name), firstSeen: 0, lastSeen: 0 });
  }
  let earlier = 0;
  for (const series of ["firstSeen", "lastSeen"] as const) {
    for (const [day, count] of seen[series]) {
      const bucket = buckets.get(day.slice(0, nameLengths[unit]));
      if (bucket === undefined) earlier += count;
      else bucket[series] += count;
    }
  }
  const axis = scaleUtc().domain([Date.parse(nameOf(from)), end]);
  const format = axis.tickFormat(5);
  const ticks = axis.ticks(5).map((date) => ({ at: date.getTime(), label: format(date) }));
  return { unit, buckets: [...buckets.values()], end, earlier, ticks };
}

/** Start of the day that this quantile of all times falls on. */
function quantile(days: Days, share: number): number {
  const counts = [...days].sort(([a], [b]) => (a < b ? -1 : 1));
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  const found = counts.find(([, count]) => (seen += count) >= share * total);
  return Date.parse(found![0]);
}
