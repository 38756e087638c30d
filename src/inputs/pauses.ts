import type { Clock } from "../core/clock.js";
import { limits } from "../formats/limits.js";

/** Notices when a stream brings nothing for a while, so that a live one is not waited for. */
export class Pauses {
  readonly #clock: Clock;
  #until: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when a pause comes before what is awaited; false when that comes, or fails, first. */
  async before(awaited: Promise<unknown>): Promise<boolean> {
    const now = this.#clock.monotonic();
    this.#until ??= now + limits.sampleMs;
    const over = new AbortController();
    const ms = Math.min(limits.pauseMs, this.#until - now);
    const pause = this.#clock.sleep(ms, over.signal).then(
      () => true,
      () => false,
    );
    const come = awaited.then(
      () => false,
      () => false,
    );
    const paused = await Promise.race([come, pause]);
    over.abort();
    return paused;
  }
}
