import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.js";

export interface ManualClockOptions {
  /** Wall-clock time at the start, in milliseconds since 1970. @default 2024-01-01T00:00:00Z */
  readonly startMs?: number;
  /** How late each sleep ends, in milliseconds; simulates late timers. */
  readonly lateness?: () => number;
  /**
   * Promises in turn for which everything that follows from a sleep has time. Long simulations, in
   * which nothing waits for input or output, take a few of them instead of a turn of the event loop.
   */
  readonly steps?: number;
}

/**
 * A clock that tests move by hand: time passes only in `advance` and `run`.
 *
 * ```ts
 * const clock = new ManualClock();
 * const asleep = clock.sleep(500);
 * await clock.advance(500); // `asleep` has settled, and so has everything that follows from it
 * ```
 */
export class ManualClock implements Clock {
  /** Every requested sleep in milliseconds, in order. */
  readonly asked: number[] = [];
  #elapsed = 0;
  #wall: number;
  readonly #lateness: () => number;
  readonly #settle: () => Promise<unknown>;
  /** The first to wake last. */
  readonly #sleepers: Sleeper[] = [];
  /** What each `run` without a sleep to end waits for. */
  #waiting: (() => void)[] = [];

  constructor(options: ManualClockOptions = {}) {
    this.#wall = options.startMs ?? Date.UTC(2024, 0, 1);
    this.#lateness = options.lateness ?? (() => 0);
    const { steps } = options;
    this.#settle = steps === undefined ? () => turn() : () => settled(steps);
  }

  /** Number of pending sleeps. */
  get pending(): number {
    return this.#sleepers.length;
  }

  now(): number {
    return this.#wall + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.asked.push(ms);
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const sleeper = {
        due: this.#elapsed + ms + this.#lateness(),
        wake: () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        const found = this.#sleepers.indexOf(sleeper);
        if (found >= 0) this.#sleepers.splice(found, 1);
        reject(signal?.reason);
      };
      this.#insert(sleeper);
      this.#continue();
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /**
   * Advances by `ms` milliseconds. Sleeps due within them end in order, each at its own time, and
   * everything that follows from one happens before the next one ends.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + ms;
    await this.#settle();
    while ((this.#sleepers.at(-1)?.due ?? Infinity) <= target) await this.#wake();
    this.#elapsed = target;
    await this.#settle();
  }

  /**
   * Advances from one sleep's end to the next until `promise` settles, and settles like it. Waits
   * for real input and output, too, and leaves the processor to it while nothing sleeps.
   */
  async run<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const settle = () => {
      settled = true;
      this.#continue();
    };
    promise.then(settle, settle);
    for (;;) {
      await turn();
      if (settled) return promise;
      if (this.#sleepers.length > 0) await this.#wake();
      else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  /** Sets the wall clock forward or back, as a user or NTP does. `monotonic` is not affected. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  /** Lets `run` look again: a sleep has begun, or the promise has settled. */
  #continue(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #insert(sleeper: Sleeper): void {
    let [from, to] = [0, this.#sleepers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#sleepers[middle]!.due > sleeper.due) from = middle + 1;
      else to = middle;
    }
    this.#sleepers.splice(from, 0, sleeper);
  }

  async #wake(): Promise<void> {
    const sleeper = this.#sleepers.pop()!;
    this.#elapsed = Math.max(this.#elapsed, sleeper.due);
    sleeper.wake();
    await this.#settle();
  }
}

async function settled(steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) await Promise.resolve();
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}
