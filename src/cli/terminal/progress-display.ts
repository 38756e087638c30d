import type { Clock } from "../../core/clock.js";
import type { RunProgress } from "../../pipeline/types.js";
import { progressLine } from "./progress-line.js";
import { ProgressMeter } from "./progress-meter.js";
import type { Reporter } from "./reporter.js";

const everyMs = 250;

/** Describes a run's progress to the reporter, and keeps its line on a terminal up to date. */
export class ProgressDisplay {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /**
   * @param signal when it aborts, the progress is that the run is coming to its end
   * @param drawn whether to draw a line; never where stderr is no terminal
   */
  start(progress: () => RunProgress, signal: AbortSignal, drawn: boolean): void {
    const meter = new ProgressMeter(progress(), this.#clock.monotonic());
    const line = (width: number): string => {
      if (signal.aborted) return "stopping: waiting for open requests; Ctrl-C stops at once";
      const now = progress();
      return progressLine(now, meter.measure(now, this.#clock.monotonic()), width);
    };
    this.#reporter.describe(() => line(Number.POSITIVE_INFINITY));
    const { width } = this.#reporter;
    if (!drawn || width === null) return;
    this.#timer = setInterval(
      () => this.#reporter.draw(line(this.#reporter.width ?? width)),
      everyMs,
    );
    this.#timer.unref();
  }

  /** Stops and takes the line away. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#reporter.describe(null);
    this.#reporter.clear();
  }
}
