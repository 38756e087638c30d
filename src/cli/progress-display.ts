import type { Clock } from "../core/clock.js";
import type { RunProgress } from "../pipeline/types.js";
import { progressLine } from "./progress-line.js";
import { ProgressMeter } from "./progress-meter.js";
import type { Reporter } from "./reporter.js";

const everyMs = 250;

/** Keeps the progress line of a run up to date; does nothing where stderr is no terminal. */
export class ProgressDisplay {
  readonly #reporter: Reporter;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | null = null;

  constructor(reporter: Reporter, clock: Clock) {
    this.#reporter = reporter;
    this.#clock = clock;
  }

  /** @param signal when it aborts, the line says that the run is coming to its end */
  start(progress: () => RunProgress, signal: AbortSignal): void {
    if (this.#reporter.width === null) return;
    const meter = new ProgressMeter(progress(), this.#clock.monotonic());
    const draw = (): void => {
      if (signal.aborted) {
        this.#reporter.draw("stopping: waiting for open requests; Ctrl-C stops at once");
        return;
      }
      const now = progress();
      const speed = meter.measure(now, this.#clock.monotonic());
      this.#reporter.draw(progressLine(now, speed, this.#reporter.width ?? 80));
    };
    this.#timer = setInterval(draw, everyMs);
    this.#timer.unref();
  }

  /** Stops and takes the line away. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#reporter.clear();
  }
}
