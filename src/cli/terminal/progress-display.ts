import type { Clock } from "../../core/clock.js";
import type { RunProgress } from "../../jobs/enrich/types.js";
import { counted, formatCount, formatSeconds, formatSpeed } from "../../core/wording/quantity.js";
import type { LogFields, Reporter } from "./reporter.js";

/** Time between two drawings of the line on a terminal, and between two lines elsewhere. */
const everyMs = { terminal: 250, log: 60_000 };

/** Reports a run's progress: a line on a terminal, a line a minute elsewhere, and on `SIGUSR1`. */
export class ProgressDisplay {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;
  #draw: (() => void) | null = null;
  #reached: (() => string) | null = null;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /**
   * @param signal once it aborts, the line says that the run is stopping
   * @param mayDraw false if something else is written to the same terminal
   */
  start(progress: () => RunProgress, signal: AbortSignal, mayDraw: boolean): void {
    const meter = new ProgressMeter(progress(), this.#clock.monotonic());
    const measure = (now: RunProgress) => meter.measure(now, this.#clock.monotonic());
    const line = (width: number): string => {
      const now = progress();
      const speed = measure(now);
      if (!signal.aborted) return progressLine(now, speed, width);
      // The same figures as in the last message of the run.
      const stopping = "stopping: waiting for open requests; Ctrl-C stops at once";
      return `${reachedText(now, speed)}  ${stopping}`.slice(0, Math.max(0, width - 1));
    };
    this.#reached = () => {
      const now = progress();
      return reachedText(now, measure(now));
    };
    this.#reporter.describe(
      () => line(Number.POSITIVE_INFINITY),
      () => fieldsOf(progress(), measure),
    );
    const { width, isQuiet } = this.#reporter;
    if (isQuiet) return;
    if (width === null) this.#repeat(everyMs.log, () => this.#reporter.printStatus());
    else if (mayDraw) {
      this.#draw = () => this.#reporter.draw(line(this.#reporter.width ?? width));
      this.#repeat(everyMs.terminal, this.#draw);
    }
  }

  /**
   * How far the run has got, such as `3,456 rows written, 34% done`; null if it has not started.
   * Redraws the progress line, so that it shows the same.
   */
  reached(): string | null {
    this.#draw?.();
    return this.#reached?.() ?? null;
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#draw = null;
    this.#reporter.describe(null);
    this.#reporter.clear();
  }

  #repeat(ms: number, show: () => void): void {
    this.#timer = setInterval(show, ms);
    this.#timer.unref();
  }
}

function fieldsOf(now: RunProgress, measure: (now: RunProgress) => Speed): LogFields {
  const { share, secondsLeft, rowsPerSecond, requestsPerSecond } = measure(now);
  return {
    rows: now.rowsWritten,
    requests: now.requests,
    percent: share === null ? null : percentOf(share),
    seconds_left: secondsLeft === null ? null : Math.round(secondsLeft),
    rows_per_second: Math.round(rowsPerSecond * 10) / 10,
    requests_per_second: Math.round(requestsPerSecond * 10) / 10,
    statuses: now.statuses,
    verdicts: now.verdicts,
  };
}

/**
 * The progress of a run in one line of at most `width - 1` characters, since some terminals wrap a
 * full line. The most important parts come first; the last are dropped if there is no room.
 */
export function progressLine(progress: RunProgress, speed: Speed, width: number): string {
  const { statuses, verdicts, rowsWritten } = progress;
  const { secondsLeft, requestsPerSecond, rowsPerSecond } = speed;
  const parts = [
    counted(rowsWritten, "row"),
    shareText(speed),
    secondsLeft === null ? "" : `${formatSeconds(Math.round(secondsLeft))} left`,
    throttlingOf(progress, speed),
    some(statuses.failed, "failed"),
    some(verdicts.malicious, "malicious"),
    some(verdicts.suspicious, "suspicious"),
    `${formatSpeed(requestsPerSecond)} requests/s`,
    some(verdicts.listed, "listed"),
    some(statuses.partial, "partial"),
    some(statuses.invalid, "invalid"),
    some(statuses.unsupported, "unsupported"),
    `${formatSpeed(rowsPerSecond)} rows/s`,
  ].filter((text) => text !== "");
  while (parts.length > 1 && parts.join("  ").length > width - 1) parts.pop();
  return parts.join("  ").slice(0, Math.max(0, width - 1));
}

/** The share of requests throttled by the service, and when the next one is sent. */
function throttlingOf({ pausedSeconds }: RunProgress, { throttled }: Speed): string {
  const seconds = formatSeconds(Math.ceil(pausedSeconds));
  if (throttled === 0) return pausedSeconds < 1 ? "" : `next request in ${seconds}`;
  const percent = Math.max(1, percentOf(throttled));
  return `429: ${percent}% of requests${pausedSeconds < 1 ? "" : `, next in ${seconds}`}`;
}

/** How far a run has got, such as `3,456 rows written, 34% done`. */
function reachedText({ rowsWritten }: RunProgress, speed: Speed): string {
  const share = shareText(speed);
  return `${counted(rowsWritten, "row")} written${share === "" ? "" : `, ${share}`}`;
}

function shareText({ share }: Speed): string {
  return share === null ? "" : `${percentOf(share)}% done`;
}

/** A share in whole percent; 100 only if nothing is left. */
export function percentOf(share: number): number {
  return Math.floor(share * 100);
}

function some(count: number, name: string): string {
  return count === 0 ? "" : `${formatCount(count)} ${name}`;
}

export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of requests that were answered with 429, 0 to 1. */
  readonly throttled: number;
  /** Share of the run that is done, 0 to 1; never decreases; null if unknown. */
  readonly share: number | null;
  readonly secondsLeft: number | null;
}

type Counts = ReturnType<typeof countsOf>;

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 60_000;

/** Time to measure before the first estimate, in milliseconds; longer if answers are 429. */
const measureMs = { usual: 3_000, throttled: 30_000 };

/** Measures the speed of a run from samples of its progress. */
export class ProgressMeter {
  readonly #samples: Counts[];
  #share: number | null = null;

  /**
   * @param start progress at the start; a resumed run already has rows
   * @param startMs time of the start, on the clock of `measure`
   */
  constructor(start: RunProgress, startMs: number) {
    this.#samples = [countsOf(start, startMs)];
  }

  measure(progress: RunProgress, nowMs: number): Speed {
    const now = countsOf(progress, nowMs);
    this.#samples.push(now);
    while ((this.#samples[1]?.atMs ?? nowMs) < nowMs - windowMs) this.#samples.shift();
    const then =
      this.#samples.findLast(({ atMs }) => atMs <= nowMs - windowMs) ?? this.#samples[0]!;
    const seconds = (now.atMs - then.atMs) / 1000;
    if (now.share !== null) this.#share = Math.max(this.#share ?? 0, now.share);
    const leastMs = measureMs[progress.throttled > 0 ? "throttled" : "usual"];
    const isKnown = !progress.isAway && seconds * 1000 >= leastMs;
    const requests = now.requests - then.requests;
    return {
      throttled: requests === 0 ? 0 : (now.throttled - then.throttled) / requests,
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond: perSecond(requests, seconds),
      share: this.#share,
      secondsLeft: isKnown ? secondsLeftOf(then, now, progress) : null,
    };
  }
}

function countsOf(progress: RunProgress, atMs: number) {
  const { rowsWritten: rows, requests, throttled } = progress;
  return { atMs, rows, requests, throttled, share: shareWritten(progress) };
}

/**
 * Extrapolates from the share gained within the window. Null while most of the rows read so far are
 * waiting for answers, their own or those of an earlier row.
 */
function secondsLeftOf(
  then: Counts,
  now: Counts,
  { rowsRead, rowsWritten }: RunProgress,
): number | null {
  if (2 * rowsWritten < rowsRead) return null;
  const gained = (now.share ?? 0) - (then.share ?? 0);
  if (now.share === null || gained <= 0) return null;
  return (((1 - now.share) / gained) * (now.atMs - then.atMs)) / 1000;
}

/** Share of the input that is written. Reading runs ahead, hence not simply the bytes read. */
function shareWritten(progress: RunProgress): number | null {
  const { bytesRead, bytesTotal, rowsRead, rowsWritten } = progress;
  if (bytesTotal === null || bytesTotal === 0) return null;
  const written = rowsRead === 0 ? 0 : rowsWritten / rowsRead;
  return Math.min(1, (bytesRead / bytesTotal) * written);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
