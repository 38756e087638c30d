import type { Clock } from "../../core/clock.js";
import type { ConcurrencyNeed } from "./concurrency-need.js";

/** So much sooner than evenly spaced a request may leave, in milliseconds: timers are late by some. */
const toleranceMs = 4;

/** How long those that wait sleep, in milliseconds: the least that a timer waits. */
const tickMs = 1;

/**
 * Keeps requests from leaving in a bunch. What leaves at once is answered at once: the answers then
 * wait for each other, all the next requests leave together when the last one is read, and so on for
 * ever. With 256 open and answers after 50 ms that is a seventh of what the service would have given.
 */
export class Spacing {
  readonly #need: Pick<ConcurrencyNeed, "spacingMs">;
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** When the next one would leave if all left evenly. */
  #nextAt = Number.NEGATIVE_INFINITY;

  constructor(need: Pick<ConcurrencyNeed, "spacingMs">, clock: Clock) {
    this.#need = need;
    this.#clock = clock;
  }

  /** Calls `go` at once, or as soon as it is time. */
  pass(go: () => void): void {
    if (this.#waiting.length === 0 && this.#isTime()) return go();
    this.#waiting.push(go);
    if (this.#waiting.length === 1) void this.#letGo();
  }

  async #letGo(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#clock.sleep(tickMs);
      let due = 0;
      while (due < this.#waiting.length && this.#isTime()) due++;
      // Who goes may come back at once.
      for (const go of this.#waiting.splice(0, due)) go();
    }
  }

  #isTime(): boolean {
    const spacing = this.#need.spacingMs;
    if (spacing === 0) return true;
    const now = this.#clock.monotonic();
    if (now < this.#nextAt - toleranceMs) return false;
    this.#nextAt = Math.max(this.#nextAt, now) + spacing;
    return true;
  }
}
