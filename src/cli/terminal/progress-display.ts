import type { Clock } from "../../core/clock.js";
import type { RunProgress } from "../../run/types.js";
import { percentOf, progressLine, reachedText, stoppingLine } from "./progress-line.js";
import { ProgressMeter, type Speed } from "./progress-meter.js";
import type { LogFields, Reporter } from "./reporter.js";

/** Time between two drawings of the line on a terminal, and between two lines elsewhere. */
const everyMs = { terminal: 250, log: 60_000 };

/** Where to show progress, besides answering `SIGUSR1`. */
export interface ProgressPlaces {
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
   * How far the run has got, such as `3,456 rows (34%)`; null if it has not started. A line on the
   * terminal shows the same.
   */
  reached(): string | null {
    this.#draw?.();
    return this.#reached?.() ?? null;
  }

  /** Stops and clears the line. */
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

/** Progress as members of a log line. */
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
