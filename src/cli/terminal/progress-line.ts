import { findingStatuses } from "../../core/finding.js";
import type { RunProgress } from "../../pipeline/types.js";
import type { Speed } from "./progress-meter.js";
import { formatCount, formatSeconds, formatSpeed } from "./quantity.js";

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
    const least = Math.min(...parts.map((part) => part.weight));
    parts.splice(
      parts.findIndex((part) => part.weight === least),
      1,
    );
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
