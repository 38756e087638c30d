import type { Clock } from "../../core/clock.js";
import { findingStatuses } from "../../core/finding.js";
import type { RunProgress } from "../../pipeline/types.js";
import { formatCount, formatSeconds, formatSpeed } from "../../core/quantity.js";
import type { Reporter } from "./reporter.js";

const everyMs = 250;

/** Describes a run's progress to the reporter, and keeps its line on a terminal up to date. */
export class ProgressDisplay {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /**
   * @param signal when it aborts, the progress is that the run is coming to its end
   * @param drawn whether to draw a line; never where stderr is no terminal
   */
  start(progress: () => RunProgress, signal: AbortSignal, drawn: boolean): void {
    const meter = new ProgressMeter(progress(), this.#clock.monotonic());
    const line = (width: number): string => {
      if (signal.aborted) return "stopping: waiting for open requests; Ctrl-C stops at once";
      const now = progress();
      return progressLine(now, meter.measure(now, this.#clock.monotonic()), width);
    };
    this.#reporter.describe(() => line(Number.POSITIVE_INFINITY));
    const { width } = this.#reporter;
    if (!drawn || width === null) return;
    this.#timer = setInterval(
      () => this.#reporter.draw(line(this.#reporter.width ?? width)),
      everyMs,
    );
    this.#timer.unref();
  }

  /** Stops and takes the line away. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#reporter.describe(null);
    this.#reporter.clear();
  }
}

/**
 * How far a run is, as one line of at most `width - 1` characters (a full line would wrap on some
 * terminals). What matters least is left out where the terminal is narrow.
 */
export function progressLine(progress: RunProgress, speed: Speed, width: number): string {
  const parts = [
    { text: `${formatCount(progress.rowsWritten)} rows`, weight: 6 },
    { text: shareText(speed.share), weight: 5 },
    { text: `${formatSpeed(speed.rowsPerSecond)} rows/s`, weight: 3 },
    { text: `${formatSpeed(speed.requestsPerSecond)} requests/s`, weight: 1 },
    { text: statusText(progress), weight: 2 },
    { text: leftText(speed.secondsLeft), weight: 4 },
  ].filter((part) => part.text !== "");
  while (parts.length > 1 && lineOf(parts).length > width - 1) {
    const weights = parts.map((part) => part.weight);
    parts.splice(weights.indexOf(Math.min(...weights)), 1);
  }
  return lineOf(parts).slice(0, Math.max(0, width - 1));
}

function lineOf(parts: readonly { readonly text: string }[]): string {
  return parts.map((part) => part.text).join("  ");
}

function shareText(share: number | null): string {
  return share === null ? "" : `${Math.floor(share * 100)}%`;
}

function leftText(seconds: number | null): string {
  return seconds === null ? "" : `${formatSeconds(Math.round(seconds))} left`;
}

function statusText(progress: RunProgress): string {
  return findingStatuses
    .filter((status) => progress.statuses[status] > 0)
    .map((status) => `${status} ${formatCount(progress.statuses[status])}`)
    .join(", ");
}

/** How fast a run is, and how much of it is left. */
export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of the input that is written, 0 to 1; null when the input's size is unknown. */
  readonly share: number | null;
  /** Seconds until the end at the recent pace; null when that cannot be told. */
  readonly secondsLeft: number | null;
}

type Sample = ReturnType<typeof sampleOf>;

/** How far back the pace is measured, in milliseconds: long enough to be calm, short enough to be now. */
const windowMs = 10_000;

/** Tells the pace of a run from how far it was at several moments. */
export class ProgressMeter {
  readonly #samples: Sample[];

  /**
   * @param start how far the run is at its start: a resumed one has rows already
   * @param startMs that moment, on the clock of `measure`
   */
  constructor(start: RunProgress, startMs: number) {
    this.#samples = [sampleOf(start, startMs)];
  }

  /** Takes note of how far the run is now and tells its pace over the last seconds. */
  measure(progress: RunProgress, nowMs: number): Speed {
    const now = sampleOf(progress, nowMs);
    this.#samples.push(now);
    while ((this.#samples[1]?.atMs ?? nowMs) < nowMs - windowMs) this.#samples.shift();
    const then = this.#samples[0] ?? now;
    const seconds = (now.atMs - then.atMs) / 1000;
    const gained = (now.share ?? 0) - (then.share ?? 0);
    return {
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond: perSecond(now.requests - then.requests, seconds),
      share: now.share,
      secondsLeft: now.share === null || gained <= 0 ? null : ((1 - now.share) / gained) * seconds,
    };
  }
}

function sampleOf(progress: RunProgress, atMs: number) {
  const { rowsWritten: rows, requests } = progress;
  return { atMs, rows, requests, share: shareDone(progress) };
}

/** Reading runs ahead of writing: of the bytes that were read, the rows that are written count. */
function shareDone(progress: RunProgress): number | null {
  const { bytesRead, bytesTotal, rowsRead, rowsWritten } = progress;
  if (bytesTotal === null || bytesTotal === 0) return null;
  const written = rowsRead === 0 ? 0 : rowsWritten / rowsRead;
  return Math.min(1, (bytesRead / bytesTotal) * written);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
