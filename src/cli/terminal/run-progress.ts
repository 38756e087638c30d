import type { Clock } from "../../core/clock.js";
import type { RunProgress } from "../../jobs/enrich/tally.js";
import { counted, formatCount, formatSeconds, formatSpeed } from "../../core/wording/quantity.js";
import type { Reporter } from "./reporter.js";

/**
 * Shows a run's progress until the reporter follows something else.
 *
 * @param signal once it aborts, the line says that the run is stopping
 * @param mayDraw false if something else is written to the same terminal
 * @returns how far the run has got, such as `3,456 rows written, 34% done`, as the line shows it then
 */
export function followRun(
  reporter: Reporter,
  clock: Clock,
  progress: () => RunProgress,
  signal: AbortSignal,
  mayDraw: boolean,
): () => string {
  const measure = progressMeter(progress(), clock.monotonic());
  const measured = (): readonly [RunProgress, Speed] => {
    const now = progress();
    return [now, measure(now, clock.monotonic())];
  };
  const line = (width: number): string => {
    if (!signal.aborted) return progressLine(...measured(), width);
    return `${reachedText(...measured())}  stopping: waiting for open requests; Ctrl-C stops at once`;
  };
  reporter.follow(line, mayDraw);
  return () => {
    reporter.redraw();
    return reachedText(...measured());
  };
}

/** The progress of a run in one line. The most important parts come first; the last are dropped if there is no room. */
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
  while (parts.length > 1 && parts.join("  ").length > width) parts.pop();
  return parts.join("  ");
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

type Speed = ReturnType<ReturnType<typeof progressMeter>>;

type Counts = ReturnType<typeof countsOf>;

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 60_000;

/** Time to measure before the first estimate, in milliseconds; longer if answers are 429. */
const measureMs = { usual: 3_000, throttled: 30_000 };

/**
 * Measures the speed of a run from samples of its progress.
 *
 * @param start progress at the start; a resumed run already has rows
 * @param startMs time of the start, on the clock of the samples
 */
export function progressMeter(start: RunProgress, startMs: number) {
  const samples = [countsOf(start, startMs)];
  let share: number | null = null;
  return (progress: RunProgress, nowMs: number) => {
    const now = countsOf(progress, nowMs);
    samples.push(now);
    while ((samples[1]?.atMs ?? nowMs) < nowMs - windowMs) samples.shift();
    const then = samples.findLast(({ atMs }) => atMs <= nowMs - windowMs) ?? samples[0]!;
    const seconds = (now.atMs - then.atMs) / 1000;
    if (now.share !== null) share = Math.max(share ?? 0, now.share);
    const leastMs = measureMs[progress.throttled > 0 ? "throttled" : "usual"];
    const isKnown = !progress.isAway && seconds * 1000 >= leastMs;
    const requests = now.requests - then.requests;
    return {
      /** Share of requests that were answered with 429, 0 to 1. */
      throttled: requests === 0 ? 0 : (now.throttled - then.throttled) / requests,
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond: perSecond(requests, seconds),
      /** Share of the run that is done, 0 to 1; never decreases; null if unknown. */
      share,
      secondsLeft: isKnown ? secondsLeftOf(then, now, progress) : null,
    };
  };
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
