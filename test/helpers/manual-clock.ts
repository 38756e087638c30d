import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.js";

export interface ManualClockOptions {
  /** Wall-clock time at the start, in milliseconds since 1970. @default 2024-01-01T00:00:00Z */
  readonly startMs?: number;
  /** How late each sleep ends, in milliseconds; simulates late timers. */
  readonly lateness?: () => number;
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
  readonly #sleepers = new Set<Sleeper>();
  /** What each `run` without a sleep to end waits for. */
  #waiting: (() => void)[] = [];

  constructor(options: ManualClockOptions = {}) {
    this.#wall = options.startMs ?? Date.UTC(2024, 0, 1);
    this.#lateness = options.lateness ?? (() => 0);
  }

  /** Number of pending sleeps. */
  get pending(): number {
    return this.#sleepers.size;
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
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      this.#sleepers.add(sleeper);
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
    await turn();
    for (let next = this.#first(target); next; next = this.#first(target)) await this.#wake(next);
    this.#elapsed = target;
    await turn();
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
      const next = this.#first(Number.POSITIVE_INFINITY);
      if (next) await this.#wake(next);
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

  #first(until: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > until) continue;
      if (first === undefined || sleeper.due < first.due) first = sleeper;
    }
    return first;
  }

  async #wake(sleeper: Sleeper): Promise<void> {
    this.#elapsed = Math.max(this.#elapsed, sleeper.due);
    sleeper.wake();
    await turn();
  }
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}
