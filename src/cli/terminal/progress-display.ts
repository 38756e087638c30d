import type { Clock } from "../../core/clock.js";
import { findingStatuses } from "../../core/finding.js";
import type { RunProgress } from "../../pipeline/types.js";
import { formatCount, formatSeconds, formatSpeed } from "../../core/quantity.js";
import type { Reporter } from "./reporter.js";

const everyMs = 250;

/** Reports a run's progress, and keeps the progress line on a terminal up to date. */
export class ProgressDisplay {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /**
   * @param signal once it aborts, the line says that the run is stopping
   * @param drawn whether to draw the line; ignored unless stderr is a terminal
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

  /** Stops and clears the line. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#reporter.describe(null);
    this.#reporter.clear();
  }
}

/**
 * The progress of a run in one line of at most `width - 1` characters, since some terminals wrap a
 * full line. On a narrow terminal the least important parts are dropped.
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

/** Speed of a run and the time left. */
export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of the input already written, 0 to 1; null if its size is unknown. */
  readonly share: number | null;
  /** Seconds left at the current speed; null if unknown. */
  readonly secondsLeft: number | null;
}

type Sample = ReturnType<typeof sampleOf>;

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 10_000;

/** Measures the speed of a run from samples of its progress. */
export class ProgressMeter {
  readonly #samples: Sample[];

  /**
   * @param start progress at the start; a resumed run already has rows
   * @param startMs time of the start, on the clock of `measure`
   */
  constructor(start: RunProgress, startMs: number) {
    this.#samples = [sampleOf(start, startMs)];
  }

  /** Adds a sample and returns the speed over the window. */
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

/** Share of bytes read, scaled by rows written: reading runs ahead of writing. */
function shareDone(progress: RunProgress): number | null {
  const { bytesRead, bytesTotal, rowsRead, rowsWritten } = progress;
  if (bytesTotal === null || bytesTotal === 0) return null;
  const written = rowsRead === 0 ? 0 : rowsWritten / rowsRead;
  return Math.min(1, (bytesRead / bytesTotal) * written);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
