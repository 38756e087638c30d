import pLimit, { type LimitFunction } from "p-limit";
import { AbortGroups } from "../../core/abort.js";
import type { AttemptWrapper } from "../types.js";

export interface SlotsOptions {
  /** Maximum number of open attempts, at least 1. */
  readonly concurrency: number;
  /** How many more attempts may queue for a connection once all are in use. Default 0. */
  readonly ahead?: number | undefined;
}

/** Minimum queue length that counts as crowded, so that slots never run empty. */
const leastCrowd = 16;

/**
 * Bounds the number of open attempts over all endpoints.
 *
 * Attempts queued ahead have already passed the pace, so this is only for services without a visible
 * limit: it starts with the first good answer and ends for good at the first sign of a limit.
 */
export class Slots {
  readonly #concurrency: number;
  readonly #ahead: number;
  readonly #crowdedFrom: number;
  readonly #limit: LimitFunction;
  readonly #aborts = new AbortGroups();
  #showsLimit = false;
  #crowded = false;
  #onRoom: () => void = () => undefined;

  constructor({ concurrency, ahead = 0 }: SlotsOptions) {
    this.#concurrency = concurrency;
    this.#ahead = ahead;
    this.#crowdedFrom = Math.max(leastCrowd, concurrency + ahead);
    this.#limit = pLimit(concurrency);
  }

  /** Reports a good answer. */
  answered(): void {
    const most = this.#concurrency + this.#ahead;
    if (!this.#showsLimit && this.#limit.concurrency !== most) this.#limit.concurrency = most;
  }

  /** Reports a sign of a limit. */
  limited(): void {
    this.#showsLimit = true;
    this.#limit.concurrency = this.#concurrency;
  }

  /**
   * True from the time when enough attempts wait until half of them do: no more rows should start. Rows
   * started too early fall out of the processor's cache before their turn, which costs a tenth of the
   * throughput.
   */
  get crowded(): boolean {
    return this.#crowded;
  }

  /** Sets the listener, replacing any earlier one, that is called whenever `crowded` turns false. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /** Gives each attempt a slot. A waiting attempt ends at once when its signal aborts. */
  readonly limit: AttemptWrapper = (next) => (item, options) => {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      const leave = this.#aborts.join(signal, {
        abort: (reason) => {
          isWaiting = false;
          leave();
          reject(reason);
        },
      });
      const turn = (): Promise<void> | undefined => {
        this.#noteWaiting();
        if (!isWaiting) return undefined;
        leave();
        return next(item, options).then(resolve, reject);
      };
      this.#limit(turn).catch(reject);
      this.#noteWaiting();
    });
  };

  #noteWaiting(): void {
    const waiting = this.#limit.pendingCount;
    if (waiting >= this.#crowdedFrom) {
      this.#crowded = true;
    } else if (this.#crowded && 2 * waiting <= this.#crowdedFrom) {
      this.#crowded = false;
      this.#onRoom();
    }
  }
}
