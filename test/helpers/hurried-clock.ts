import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.js";

/**
 * A clock for whole runs: real time, but every sleep ends at once and counts as slept. Tests spend
 * no time on back-off and pauses, but can check them in `asked`.
 */
export class HurriedClock implements Clock {
  /** Every requested sleep in milliseconds, in order. */
  readonly asked: number[] = [];
  #skipped = 0;

  /** One whose time of day begins at this one. */
  static at(time: string | number): HurriedClock {
    const offset = new Date(time).getTime() - Date.now();
    return Object.assign(new HurriedClock(), { now: () => Date.now() + offset });
  }

  now(): number {
    return Date.now() + this.#skipped;
  }

  monotonic(): number {
    return performance.now() + this.#skipped;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.asked.push(ms);
    await turn();
    if (signal?.aborted) throw signal.reason;
    this.#skipped += Math.max(0, ms);
  }
}
