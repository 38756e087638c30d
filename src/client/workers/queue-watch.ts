import type { Clock } from "../../core/clock.js";
import { FatalError, continueRun } from "../../core/errors.js";
import { formatSeconds } from "../../core/wording/quantity.js";
import type { OpenQueue } from "./lookup-queue.js";
import { faultText } from "../../core/redis.js";

export interface QueueWatchOptions {
  readonly baseUrl: string;
  /** How long to wait for workers and for Redis, in milliseconds. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

/** Silence after which Redis, or the workers, count as away. */
const silenceMs = { redis: 4_000, workers: 120_000 };

/** Notices when lookups wait for Redis or for workers, says so, and loses patience. */
export class QueueWatch {
  /** Why Redis took no lookup last; null once it does. */
  fault: Error | null = null;
  readonly #options: QueueWatchOptions;
  readonly #open: OpenQueue;
  /** Number of connected workers; null if unknown. */
  #workers: number | null = null;
  /** When Redis last answered, and when workers last took or answered a lookup. */
  #redisAt: number;
  #workersAt: number;
  /** Since when there has been trouble; null for none. */
  #since: number | null = null;

  constructor(options: QueueWatchOptions, open: OpenQueue) {
    this.#options = options;
    this.#open = open;
    this.#redisAt = this.#workersAt = options.clock.monotonic();
  }

  /** A worker has taken or answered a lookup. */
  readonly isAlive = (): void => void (this.#workersAt = this.#options.clock.monotonic());

  /** Asks Redis for workers; it may be away for long. */
  async ask(): Promise<void> {
    const { queue } = this.#open;
    const workers = queue.getWorkersCount().catch(() => null);
    if ((await queue.getRateLimitTtl()) > 0) this.isAlive();
    this.#workers = await workers;
    this.#redisAt = this.#options.clock.monotonic();
  }

  /**
   * Judges whether the wait has become hopeless.
   *
   * @param isWaiting whether any lookup is open
   * @returns the error that ends the run once the patience is over
   */
  judge(isWaiting: boolean): FatalError | null {
    const { patienceMs, onWarning, clock } = this.#options;
    const now = clock.monotonic();
    if (!isWaiting) this.#redisAt = this.#workersAt = now;
    const trouble = isWaiting ? this.#troubleAt(now) : null;
    const waited = formatSeconds(Math.round((now - (this.#since ?? now)) / 1000));
    if (trouble === null) {
      if (this.#since !== null) onWarning(`workers answer again after ${waited}`);
      this.#since = null;
      return null;
    }
    if (this.#since === null)
      onWarning(`${trouble}; waiting for up to ${formatSeconds(patienceMs / 1000)}`);
    if (now - (this.#since ??= now) < patienceMs) return null;
    return new FatalError("workers_away", `${trouble}, for ${waited}`, {
      hint: `${continueRun} when Redis and a worker are there`,
    });
  }

  #troubleAt(now: number): string | null {
    const { shown, lastFault } = this.#open.connection;
    if (this.fault !== null) return `${shown} refuses: ${faultText(this.fault)}`;
    if (now - this.#redisAt > silenceMs.redis) return `${shown} is away (${lastFault()})`;
    if (this.#workers === 0) {
      return `no worker is connected to ${shown} for this service (repute worker ${shown} --intel-url ${this.#options.baseUrl})`;
    }
    if (now - this.#workersAt > silenceMs.workers) return `the workers at ${shown} do nothing`;
    return null;
  }
}
