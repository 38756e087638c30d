import pLimit, { type LimitFunction } from "p-limit";
import { AbortGroups } from "../../core/abort.js";
import type { AttemptWrapper } from "../types.js";

export interface SlotsOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
  /** How many more may queue in front of the connections once all of those are open. Default none. */
  readonly ahead?: number | undefined;
}

/** Least number of waiting attempts at which it is crowded, so that no slot is empty meanwhile. */
const leastCrowd = 16;

/**
 * Bounds how many attempts are open at once, over all endpoints.
 *
 * Attempts that queue ahead have left the pace already, so this is for services that show no limit:
 * it begins with the first good answer, and the first sign of a limit ends it for the rest of the run.
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

  /** The service gave a good answer. */
  answered(): void {
    const most = this.#concurrency + this.#ahead;
    if (!this.#showsLimit && this.#limit.concurrency !== most) this.#limit.concurrency = most;
  }

  /** The service shows that it has a limit. */
  limited(): void {
    this.#showsLimit = true;
    this.#limit.concurrency = this.#concurrency;
  }

  /**
   * True from when enough attempts wait until half of them do: no more rows need to be begun. What is
   * begun early is out of the processor's cache when its turn comes, which costs a tenth of the time.
   */
  get crowded(): boolean {
    return this.#crowded;
  }

  /** Tells one listener, the latest, each time that `crowded` turns false. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /** Makes attempts take a slot. One that waits for its turn ends at once when its signal aborts. */
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
