import type { RunProgress } from "../../pipeline/types.js";

/** Speed of a run and the time left. */
export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of the run that is done, 0 to 1; never decreases; null if unknown. */
  readonly share: number | null;
  /** Seconds left at the current speed; null if unknown. */
  readonly secondsLeft: number | null;
}

type Sample = ReturnType<typeof sampleOf>;

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 60_000;

/** A slow start or a pause is over once this much shorter window shows it. */
const recentMs = 10_000;

/** Time to measure before the first estimate, in milliseconds. */
const leastMs = 1_000;

/** Share shown while rows are still to be written. */
const almostAll = 0.99;

/** Measures the speed of a run from samples of its progress. */
export class ProgressMeter {
  readonly #samples: Sample[];
  #share: number | null = null;

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
    const requestsPerSecond = requestPace(then, now);
    const recent = this.#samples.find(({ atMs }) => atMs >= nowMs - recentMs) ?? now;
    const pace = Math.max(requestsPerSecond, requestPace(recent, now));
    const share = shareSettled(progress) ?? now.bytes;
    if (share !== null) this.#share = Math.max(this.#share ?? 0, share);
    return {
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond,
      share: this.#share,
      secondsLeft:
        seconds * 1000 < leastMs
          ? null
          : (secondsOfRequests(progress, pace) ?? secondsOfBytes(then, now)),
    };
  }
}

function sampleOf(progress: RunProgress, atMs: number) {
  const { rowsWritten: rows, requests } = progress;
  return { atMs, rows, requests, bytes: shareOfBytes(progress) };
}

/** Time for the remaining lookups, if they retry as often as the settled ones. */
function secondsOfRequests(progress: RunProgress, pace: number): number | null {
  const { planned, settled, requests } = progress.lookups;
  if (planned === null || planned <= settled || pace === 0) return null;
  const perLookup = settled === 0 ? 1 : requests / settled;
  return ((planned - settled) * perLookup) / Math.min(pace, progress.maxPerSecond ?? pace);
}

/** Extrapolates from the bytes of the window. Runs without a rate limit have nothing better. */
function secondsOfBytes(then: Sample, now: Sample): number | null {
  const gained = (now.bytes ?? 0) - (then.bytes ?? 0);
  if (now.bytes === null || gained <= 0) return null;
  return (((1 - now.bytes) / gained) * (now.atMs - then.atMs)) / 1000;
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

function requestPace(then: Sample, now: Sample): number {
  return perSecond(now.requests - then.requests, (now.atMs - then.atMs) / 1000);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
