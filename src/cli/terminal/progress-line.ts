import { counted, formatCount, formatSeconds, formatSpeed } from "../../core/text/quantity.js";
import type { RunProgress } from "../../run/types.js";
import type { Speed } from "./progress-meter.js";

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
    { rank: 2, text: share === null ? "" : `${percentOf(share)}%` },
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
export function stoppingLine(progress: RunProgress, speed: Speed, width: number): string {
  const line = `${reachedText(progress, speed)}  stopping: waiting for open requests; Ctrl-C stops at once`;
  return line.slice(0, Math.max(0, width - 1));
}

/** How far a run has got, such as `3,456 rows (34%)`. */
export function reachedText({ rowsWritten }: RunProgress, { share }: Speed): string {
  return `${counted(rowsWritten, "row")}${share === null ? "" : ` (${percentOf(share)}%)`}`;
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
