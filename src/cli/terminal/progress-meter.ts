import type { RunProgress } from "../../pipeline/types.js";

/** How fast a run is, and how much of it is left. */
export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of the input that is written, 0 to 1; null when the input's size is unknown. */
  readonly share: number | null;
  /** Seconds until the end at the recent pace; null when that cannot be told. */
  readonly secondsLeft: number | null;
}

interface Sample {
  readonly atMs: number;
  readonly rows: number;
  readonly requests: number;
  readonly share: number | null;
}

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

function sampleOf(progress: RunProgress, atMs: number): Sample {
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
