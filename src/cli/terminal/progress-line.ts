import { counted, formatCount, formatSeconds, formatSpeed } from "../../core/quantity.js";
import type { RunProgress } from "../../pipeline/types.js";
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
      rank: 4,
      text: share === null || width === Number.POSITIVE_INFINITY ? "" : bar(share, width),
    },
    { rank: 2, text: share === null ? "" : `${percentOf(share)}%` },
    { rank: 1, text: counted(progress.rowsWritten, "row") },
    { rank: 3, text: endOf(speed) },
    { rank: 5, text: some(statuses.failed, "failed") },
    { rank: 6, text: some(verdicts.malicious, "malicious") },
    { rank: 7, text: some(verdicts.suspicious, "suspicious") },
    { rank: 9, text: some(verdicts.listed, "listed") },
    { rank: 10, text: some(statuses.partial, "partial") },
    { rank: 11, text: some(statuses.invalid, "invalid") },
    { rank: 12, text: some(statuses.unsupported, "unsupported") },
    { rank: 8, text: `${formatSpeed(speed.requestsPerSecond)} requests/s` },
    { rank: 13, text: `${formatSpeed(speed.rowsPerSecond)} rows/s` },
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
