import type { RunProgress } from "../../pipeline/types.js";

/** Speed of a run and the time left. */
export interface Speed {
  readonly rowsPerSecond: number;
  readonly requestsPerSecond: number;
  /** Share of the run that is done, 0 to 1; never decreases; null if unknown. */
  readonly share: number | null;
  /** Seconds left at the current speed; null if unknown. */
  readonly secondsLeft: number | null;
  /** The end that a budget, quota or deadline sets before the last row; null for none. */
  readonly stop: EarlyStop | null;
}

/** When a run stops early. */
interface EarlyStop {
  readonly seconds: number;
  /** A time of day such as `05:30`, if the deadline is one. */
  readonly at: string | null;
  /** Share done by then; null if unknown. */
  readonly share: number | null;
}

type Sample = ReturnType<typeof sampleOf>;

/** Window for measuring speed, in milliseconds: smooth, yet recent. */
const windowMs = 60_000;

/** A slow start or a pause is over once this much shorter window shows it. */
const recentMs = 10_000;

/** Time to measure before the first estimate, in milliseconds. */
const leastMs = 1_000;

/** Window over a run that a partly unavailable service slows down now and then. */
const longMs = 300_000;

/** Weight of the allowed rate beside that window: such pauses pass. */
const allowedMs = 120_000;

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
    while ((this.#samples[1]?.atMs ?? nowMs) < nowMs - longMs) this.#samples.shift();
    const then = this.#since(nowMs - windowMs, now);
    const seconds = (now.atMs - then.atMs) / 1000;
    const share = shareSettled(progress) ?? now.bytes;
    if (share !== null) this.#share = Math.max(this.#share ?? 0, share);
    const pace = this.#pace(progress, now);
    const secondsLeft =
      seconds * 1000 < leastMs
        ? null
        : (secondsOfRequests(progress, pace) ?? secondsOfBytes(then, now));
    return {
      rowsPerSecond: perSecond(now.rows - then.rows, seconds),
      requestsPerSecond: requestPace(then, now),
      share: this.#share,
      secondsLeft,
      stop: earlyStop(progress, pace, secondsLeft, this.#share),
    };
  }

  /** Requests per second to expect for the rest of the run. */
  #pace({ maxPerSecond, pauses }: RunProgress, now: Sample): number {
    const { atMs } = now;
    if (pauses > 0 && maxPerSecond !== null) {
      const since = this.#since(atMs - longMs, now);
      const ms = atMs - since.atMs;
      const sum = requestPace(since, now) * ms + maxPerSecond * allowedMs;
      return Math.min(maxPerSecond, sum / (ms + allowedMs));
    }
    const [long, short] = [windowMs, recentMs].map((ms) =>
      requestPace(this.#since(atMs - ms, now), now),
    );
    return Math.min(maxPerSecond ?? Number.POSITIVE_INFINITY, Math.max(long ?? 0, short ?? 0));
  }

  /** The last sample before a window, or the first of all. */
  #since(fromMs: number, now: Sample): Sample {
    return this.#samples.findLast(({ atMs }) => atMs <= fromMs) ?? this.#samples[0] ?? now;
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
  return ((planned - settled) * perLookup) / pace;
}

/** Extrapolates from the bytes of the window. Runs without a rate limit have nothing better. */
function secondsOfBytes(then: Sample, now: Sample): number | null {
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

function requestPace(then: Sample, now: Sample): number {
  return perSecond(now.requests - then.requests, (now.atMs - then.atMs) / 1000);
}

function perSecond(count: number, seconds: number): number {
  return seconds <= 0 ? 0 : count / seconds;
}
