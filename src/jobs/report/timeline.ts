import { scaleUtc } from "d3-scale";

interface Bucket {
  readonly start: number;
  readonly end: number;
  readonly firstSeen: number;
  readonly lastSeen: number;
}

export interface Timeline {
  readonly unit: "day" | "month" | "year";
  readonly buckets: readonly Bucket[];
  readonly earlier: number;
  /** Places on the axis that are named. */
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

const dayMs = 86_400_000;

/** The times of a report; null when no row has one. The oldest hundredth is not drawn but counted. */
export function timelineOf({
  firstSeen,
  lastSeen,
}: Readonly<Record<"firstSeen" | "lastSeen", Days>>): Timeline | null {
  const known = [firstSeen, lastSeen].filter(({ total }) => total > 0);
  if (known.length === 0) return null;
  const from = Math.min(...known.map((days) => days.quantile(0.01)));
  const to = Math.max(...known.map((days) => days.quantile(1)));
  const days = (to - from) / dayMs;
  const unit = days <= 45 ? "day" : days <= 3 * 366 ? "month" : "year";
  const starts: number[] = [];
  let start = startOf(unit, from);
  for (; start <= to; start = startOf(unit, start, 1)) starts.push(start);
  const buckets = starts.map((at, index) => {
    const end = starts[index + 1] ?? start;
    const seen = { firstSeen: firstSeen.between(at, end), lastSeen: lastSeen.between(at, end) };
    return { start: at, end, ...seen };
  });
  const axis = scaleUtc().domain([starts[0]!, start]);
  const format = axis.tickFormat(5);
  return {
    unit,
    buckets,
    earlier: firstSeen.between(0, starts[0]!) + lastSeen.between(0, starts[0]!),
    ticks: axis.ticks(5).map((date) => ({ at: date.getTime(), label: format(date) })),
  };
}

/** Name of a bucket: `2026-03`. */
export function bucketName(unit: Timeline["unit"], start: number): string {
  const length = { day: 10, month: 7, year: 4 }[unit];
  return new Date(start).toISOString().slice(0, length);
}

/** First moment of the part of the axis that a time is in, or of one `ahead` of it. */
function startOf(unit: Timeline["unit"], time: number, ahead = 0): number {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (unit === "day") return Date.UTC(year, month, day + ahead);
  return unit === "month" ? Date.UTC(year, month + ahead) : Date.UTC(year + ahead, 0);
}

const epoch = Date.UTC(2000, 0, 1);
/** Days from 2000 to 2099; other years are not plausible for activity. */
const most = 36_525;

/** Rows by day, in fixed memory. */
export class Days {
  readonly #counts = new Uint32Array(most);
  #total = 0;

  /** Counts an RFC 3339 time; other text is ignored. */
  add(time: string): void {
    if (!/^20\d\d-\d\d-\d\d/.test(time)) return;
    const day = Math.floor((Date.parse(time.slice(0, 10)) - epoch) / dayMs);
    if (!(day >= 0 && day < most)) return;
    this.#counts[day]! += 1;
    this.#total += 1;
  }

  get total(): number {
    return this.#total;
  }

  /** Start of the day that this quantile of all times falls on. */
  quantile(share: number): number {
    let seen = 0;
    for (let day = 0; day < most; day++) {
      seen += this.#counts[day]!;
      if (seen > 0 && seen >= share * this.#total) return epoch + day * dayMs;
    }
    return epoch;
  }

  /** Times from `from` up to, not including, `to`; both in milliseconds since 1970. */
  between(from: number, to: number): number {
    const [first, end] = [from, to].map((time) =>
      Math.min(most, Math.max(0, Math.ceil((time - epoch) / dayMs))),
    ) as [number, number];
    let sum = 0;
    for (let day = first; day < end; day++) sum += this.#counts[day]!;
    return sum;
  }
}
