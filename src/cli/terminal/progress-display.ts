import type { Clock } from "../../core/clock.js";
import type { RunProgress } from "../../jobs/enrich/types.js";
import { counted, formatCount, formatSeconds, formatSpeed } from "../../core/wording/quantity.js";
import type { LogFields, Reporter } from "./reporter.js";

/** Time between two drawings of the line on a terminal, and between two lines elsewhere. */
const everyMs = { terminal: 250, log: 60_000 };

/** Where to show progress, besides answering `SIGUSR1`. */
interface ProgressPlaces {
  /** Keep a line up to date if stderr is a terminal. */
  readonly terminal: boolean;
  /** Print a line per minute if it is not. */
  readonly log: boolean;
}

/** Reports a run's progress, and keeps the progress line on a terminal up to date. */
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

  /** @param signal once it aborts, the line says that the run is stopping */
  start(progress: () => RunProgress, signal: AbortSignal, places: ProgressPlaces): void {
    const meter = new ProgressMeter(progress(), this.#clock.monotonic());
    const measure = (now: RunProgress) => meter.measure(now, this.#clock.monotonic());
    const line = (width: number): string => {
      const now = progress();
      const speed = measure(now);
      return signal.aborted ? stoppingLine(now, speed, width) : progressLine(now, speed, width);
    };
    this.#reached = () => {
      const now = progress();
      return reachedText(now, measure(now));
    };
    this.#reporter.describe(
      () => line(Number.POSITIVE_INFINITY),
      () => fieldsOf(progress(), measure),
    );
    const { width } = this.#reporter;
    if (width !== null && places.terminal) {
      this.#draw = () => this.#reporter.draw(line(this.#reporter.width ?? width));
      this.#repeat(everyMs.terminal, this.#draw);
    } else if (width === null && places.log) {
      this.#repeat(everyMs.log, () => this.#reporter.printStatus());
    }
  }

  /**
   * How far the run has got, such as `3,456 rows written, 34% asked`; null if it has not started. A line on the
   * terminal shows the same.
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
    if (this.#timer !== null) clearInterval(this.#timer);
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
 * full line. On a narrow terminal the least important parts are dropped.
 *
 * @param width infinite for all parts and no bar, as for a log
 */
export function progressLine(progress: RunProgress, speed: Speed, width: number): string {
  const { statuses, verdicts } = progress;
  const { share } = speed;
  // In order; the most important part has rank 1.
  const parts = [
    {
      rank: 5,
      text: share === null || width === Number.POSITIVE_INFINITY ? "" : bar(share, width),
    },
    { rank: 2, text: shareText(speed) },
    { rank: 1, text: counted(progress.rowsWritten, "row") },
    { rank: 3, text: endOf(speed) },
    { rank: 4, text: throttlingOf(progress, speed) },
    { rank: 6, text: some(statuses.failed, "failed") },
    { rank: 7, text: some(verdicts.malicious, "malicious") },
    { rank: 8, text: some(verdicts.suspicious, "suspicious") },
    { rank: 10, text: some(verdicts.listed, "listed") },
    { rank: 11, text: some(statuses.partial, "partial") },
    { rank: 12, text: some(statuses.invalid, "invalid") },
    { rank: 13, text: some(statuses.unsupported, "unsupported") },
    { rank: 9, text: `${formatSpeed(speed.requestsPerSecond)} requests/s` },
    { rank: 14, text: `${formatSpeed(speed.rowsPerSecond)} rows/s` },
  ].filter((part) => part.text !== "");
  while (parts.length > 1 && joined(parts).length > width - 1) {
    const ranks = parts.map((part) => part.rank);
    parts.splice(ranks.indexOf(Math.max(...ranks)), 1);
  }
  return joined(parts).slice(0, Math.max(0, width - 1));
}

/** When the run ends: with its last row, or before it. */
function endOf({ secondsLeft, stop }: Speed): string {
  if (stop === null) {
    return secondsLeft === null ? "" : `${formatSeconds(Math.round(secondsLeft))} left`;
  }
  const when = stop.at === null ? `in ${formatSeconds(Math.round(stop.seconds))}` : `at ${stop.at}`;
  return `stops ${when}${stop.share === null ? "" : `, at about ${percentOf(stop.share)}%`}`;
}

/** The part of requests that the service throttles, and when the run asks again. */
function throttlingOf({ pausedSeconds }: RunProgress, { throttled }: Speed): string {
  const seconds = formatSeconds(Math.ceil(pausedSeconds));
  if (throttled === 0) return pausedSeconds < 1 ? "" : `next request in ${seconds}`;
  const percent = Math.max(1, percentOf(throttled));
  return `429: ${percent}% of requests${pausedSeconds < 1 ? "" : `, next in ${seconds}`}`;
}

/** The line of a run that was told to stop, with the figures that its last message names. */
function stoppingLine(progress: RunProgress, speed: Speed, width: number): string {
  const line = `${reachedText(progress, speed)}  stopping: waiting for open requests; Ctrl-C stops at once`;
  return line.slice(0, Math.max(0, width - 1));
}

/** How far a run has got, such as `3,456 rows written, 34% asked`. */
function reachedText({ rowsWritten }: RunProgress, speed: Speed): string {
  const share = shareText(speed);
  return `${counted(rowsWritten, "row")} written${share === "" ? "" : `, ${share}`}`;
}

/** Rows wait for those before them, so that it is not the share of the rows. */
function shareText({ share, shareOf }: Speed): string {
  return share === null ? "" : `${percentOf(share)}% ${shareOf === "lookups" ? "asked" : "read"}`;
}

/** A share in whole percent; 100 only for all of it. */
export function percentOf(share: number): number {
  return Math.floor(share * 100);
}

function joined(parts: readonly { readonly text: string }[]): string {
  return parts.map((part) => part.text).join("  ");
}

function some(count: number, name: string): string {
  return count === 0 ? "" : `${formatCount(count)} ${name}`;
}

function bar(share: number, width: number): string {
  const cells = width < 100 ? 10 : 20;
  const full = Math.floor(share * cells);
  return "█".repeat(full) + "░".repeat(cells - full);
}

export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of requests that were answered with 429, 0 to 1. */
  readonly throttled: number;
  /** Share of the run that is done, 0 to 1; never decreases; null if unknown. */
  readonly share: number | null;
  /** Whether it is the share of the lookups that are answered or of the input that is read. */
  readonly shareOf: "lookups" | "input";
  readonly secondsLeft: number | null;
  /** The end that a budget, quota or deadline sets before the last row; null for none. */
  readonly stop: EarlyStop | null;
}

interface EarlyStop {
  readonly seconds: number;
  /** A time of day such as `05:30`, if the deadline is one. */
  readonly at: string | null;
  readonly share: number | null;
}

type Counts = ReturnType<typeof countsOf>;

interface Measured extends Counts {
  /** Requests per second over a short time before; 0 at the start of a run. */
  readonly pace: number;
}

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 60_000;

/** A slow start or a pause is over once this much shorter window shows it. */
const recentMs = 10_000;

/** Time to measure before the first estimate, in milliseconds; longer if answers are 429. */
const measureMs = { usual: 3_000, throttled: 30_000 };

/** Window over a run that the service throttles. */
const longMs = 300_000;

/**
 * Weight of the pace that the service allows beside that window: a run begins with a search for it,
 * and trials and pauses pass.
 */
const allowedMs = 120_000;

/** A limit that was found allows the best pace over the first of these times within the second. */
const bestMs = { over: 5_000, within: 30_000 };

/** Share shown while rows are still to be written. */
const almostAll = 0.99;

/** Measures the speed of a run from samples of its progress. */
export class ProgressMeter {
  readonly #samples: Measured[];
  #share: number | null = null;

  /**
   * @param start progress at the start; a resumed run already has rows
   * @param startMs time of the start, on the clock of `measure`
   */
  constructor(start: RunProgress, startMs: number) {
    this.#samples = [{ ...countsOf(start, startMs), pace: 0 }];
  }

  measure(progress: RunProgress, nowMs: number): Speed {
    const now = this.#sample(countsOf(progress, nowMs));
    while ((this.#samples[1]?.atMs ?? nowMs) < nowMs - longMs) this.#samples.shift();
    const then = this.#since(nowMs - windowMs);
    const seconds = (now.atMs - then.atMs) / 1000;
    const settled = shareSettled(progress);
    const share = settled ?? now.bytes;
    if (share !== null) this.#share = Math.max(this.#share ?? 0, share);
    const pace = this.#pace(progress, now);
    const leastMs = measureMs[progress.throttled > 0 ? "throttled" : "usual"];
    const isKnown = !progress.isAway && seconds * 1000 >= leastMs;
    const secondsLeft = isKnown
      ? (secondsOfRequests(progress, pace) ?? secondsOfBytes(then, now, progress))
      : null;
    const requests = now.requests - then.requests;
    return {
      throttled: requests === 0 ? 0 : (now.throttled - then.throttled) / requests,
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond: requestPace(then, now),
      share: this.#share,
      shareOf: settled === null ? "input" : "lookups",
      secondsLeft,
      stop: earlyStop(progress, pace, secondsLeft, this.#share),
    };
  }

  /** Requests per second to expect for the rest of the run. */
  #pace(progress: RunProgress, now: Measured): number {
    const measured = (ms: number): number => requestPace(this.#since(now.atMs - ms), now);
    const allowed = this.#allowed(progress, now);
    let pace = Math.max(measured(windowMs), measured(recentMs));
    if (allowed !== null) {
      const ms = now.atMs - this.#since(now.atMs - longMs).atMs;
      pace = (measured(longMs) * ms + allowed * allowedMs) / (ms + allowedMs);
    }
    return Math.min(progress.maxPerSecond ?? Number.POSITIVE_INFINITY, pace);
  }

  /** The pace that a service which throttles allows; null if the measured one is all that is known. */
  #allowed({ maxPerSecond, throttling }: RunProgress, { atMs }: Measured): number | null {
    if (throttling === "unclear") return maxPerSecond;
    if (throttling !== "found") return null;
    const recent = this.#samples.filter((sample) => sample.atMs >= atMs - bestMs.within);
    return Math.max(...recent.map(({ pace }) => pace)) || null;
  }

  #sample(counts: Counts): Measured {
    const then = this.#since(counts.atMs - bestMs.over);
    const isLong = counts.atMs - then.atMs >= bestMs.over;
    const sample = { ...counts, pace: isLong ? requestPace(then, counts) : 0 };
    this.#samples.push(sample);
    return sample;
  }

  #since(fromMs: number): Measured {
    return this.#samples.findLast(({ atMs }) => atMs <= fromMs) ?? this.#samples[0]!;
  }
}

function countsOf(progress: RunProgress, atMs: number) {
  const { rowsWritten: rows, requests, throttled } = progress;
  return { atMs, rows, requests, throttled, bytes: shareOfBytes(progress) };
}

/** Time for the remaining lookups, if they retry as often as the settled ones. */
function secondsOfRequests(progress: RunProgress, pace: number): number | null {
  const { planned, settled, requests } = progress.lookups;
  if (planned === null || planned <= settled || pace === 0) return null;
  const perLookup = settled === 0 ? 1 : requests / settled;
  return ((planned - settled) * perLookup) / pace;
}

/**
 * Extrapolates from the bytes of the window. Runs without a rate limit have nothing better. Unknown while
 * most of the rows that were read wait for their answers, or for those of a row before them.
 */
function secondsOfBytes(
  then: Counts,
  now: Counts,
  { rowsRead, rowsWritten }: RunProgress,
): number | null {
  if (2 * rowsWritten < rowsRead) return null;
  const gained = (now.bytes ?? 0) - (then.bytes ?? 0);
  if (now.bytes === null || gained <= 0) return null;
  return (((1 - now.bytes) / gained) * (now.atMs - then.atMs)) / 1000;
}

/** What ends the run first, if not its last row. */
function earlyStop(
  { ends }: RunProgress,
  pace: number,
  secondsLeft: number | null,
  share: number | null,
): EarlyStop | null {
  const ofRequests = ends.requests === null || pace === 0 ? null : ends.requests / pace;
  const deadline = ends.seconds ?? Number.POSITIVE_INFINITY;
  const seconds = Math.min(ofRequests ?? Number.POSITIVE_INFINITY, deadline);
  if (secondsLeft === null || seconds >= secondsLeft) return null;
  const at = seconds === deadline ? ends.at : null;
  const gained = share === null ? null : share + (1 - share) * (seconds / secondsLeft);
  return { seconds, at, share: gained };
}

function shareSettled({ lookups: { planned, settled } }: RunProgress): number | null {
  return planned === null || planned === 0 ? null : Math.min(almostAll, settled / planned);
}

/** Share of bytes read, scaled by rows written: reading runs ahead of writing. */
function shareOfBytes(progress: RunProgress): number | null {
  const { bytesRead, bytesTotal, rowsRead, rowsWritten } = progress;
  if (bytesTotal === null || bytesTotal === 0) return null;
  const written = rowsRead === 0 ? 0 : rowsWritten / rowsRead;
  return Math.min(1, (bytesRead / bytesTotal) * written);
}

function requestPace(then: Counts, now: Counts): number {
  return perSecond(now.requests - then.requests, (now.atMs - then.atMs) / 1000);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
