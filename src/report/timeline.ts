import { scaleUtc } from "d3-scale";
import type { Days } from "./days.js";
import type { Report } from "./types.js";

/** A part of the time axis. */
interface Bucket {
  readonly start: number;
  readonly end: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

/** First and last seen by day, month or year. */
export interface Timeline {
  readonly unit: "day" | "month" | "year";
  readonly buckets: readonly Bucket[];
  /** Times before the first bucket. */
  readonly earlier: number;
  /** Places on the axis that are named. */
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

const dayMs = 86_400_000;

/** The times of a report; null when no row has one. The oldest hundredth is not drawn but counted. */
export function timelineOf({
  firstSeen,
  lastSeen,
}: Pick<Report, "firstSeen" | "lastSeen">): Timeline | null {
  const known = [firstSeen, lastSeen].filter(({ total }) => total > 0);
  if (known.length === 0) return null;
  const from = Math.min(...known.map((days) => days.quantile(0.01)));
  const to = Math.max(...known.map((days) => days.quantile(1)));
  const days = (to - from) / dayMs;
  const unit = days <= 45 ? "day" : days <= 3 * 366 ? "month" : "year";
  const starts: number[] = [];
  let start = floorTo(unit, from);
  for (; start <= to; start = next(unit, start)) starts.push(start);
  const buckets = starts.map((at, index) => {
    const end = starts[index + 1] ?? start;
    return {
      start: at,
      end,
      firstSeen: firstSeen.between(at, end),
      lastSeen: lastSeen.between(at, end),
    };
  });
  const axis = scaleUtc().domain([starts[0]!, start]);
  const format = axis.tickFormat(5);
  return {
    unit,
    buckets,
    earlier: before(firstSeen, starts[0]!) + before(lastSeen, starts[0]!),
    ticks: axis.ticks(5).map((date) => ({ at: date.getTime(), label: format(date) })),
  };
}

/** Name of a bucket: `2026-03`. */
export function bucketName(unit: Timeline["unit"], start: number): string {
  const length = { day: 10, month: 7, year: 4 }[unit];
  return new Date(start).toISOString().slice(0, length);
}

function before(days: Days, time: number): number {
  return days.between(0, time);
}

function floorTo(unit: Timeline["unit"], time: number): number {
  const date = new Date(time);
  const month = unit === "year" ? 0 : date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), month, unit === "day" ? date.getUTCDate() : 1);
}

function next(unit: Timeline["unit"], time: number): number {
  const date = new Date(time);
  if (unit === "day") return time + dayMs;
  if (unit === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  return Date.UTC(date.getUTCFullYear() + 1, 0, 1);
}
