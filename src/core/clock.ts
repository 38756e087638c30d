import { setTimeout as delay } from "node:timers/promises";

/** Time as a dependency: pace, retry, cache and checkpoint take one, so that tests need no waiting. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970-01-01T00:00:00Z. May jump, also backwards. */
  now(): number;
  /** Milliseconds since an arbitrary moment, with fractions; never goes backwards. For measuring. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds (at once for 0 or less).
   *
   * @throws the signal's reason when it aborts first
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    if (signal?.aborted) throw signal.reason;
    if (ms <= 0) return;
    try {
      await delay(ms, undefined, signal ? { signal } : undefined);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
