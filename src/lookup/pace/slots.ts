import type { Attempt } from "../../core/attempt.js";
import type { AttemptLookup, AttemptWrapper } from "../types.js";
import { FairQueue } from "./fair-queue.js";

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
  readonly #queue = new FairQueue<void>();
  #most: number;
  #open = 0;
  #showsLimit = false;
  #crowded = false;
  #onRoom: () => void = () => undefined;

  constructor({ concurrency, ahead = 0 }: SlotsOptions) {
    this.#concurrency = concurrency;
    this.#ahead = ahead;
    this.#crowdedFrom = Math.max(leastCrowd, concurrency + ahead);
    this.#most = concurrency;
  }

  /** The service gave a good answer. */
  answered(): void {
    if (!this.#showsLimit) this.#most = this.#concurrency + this.#ahead;
  }

  /** The service shows that it has a limit. */
  limited(): void {
    this.#showsLimit = true;
    this.#most = this.#concurrency;
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
    if (this.#open < this.#most && !options.signal.aborted) {
      this.#open++;
      return this.#run(next, item, options);
    }
    const turn = this.#queue.enqueue(options.signal);
    if (this.#queue.size >= this.#crowdedFrom) this.#crowded = true;
    return turn.then(() => this.#run(next, item, options));
  };

  async #run(next: AttemptLookup, ...call: Parameters<AttemptLookup>): Promise<Attempt> {
    try {
      return await next(...call);
    } finally {
      this.#open--;
      while (this.#open < this.#most && this.#queue.release()) this.#open++;
      if (this.#crowded && 2 * this.#queue.size <= this.#crowdedFrom) {
        this.#crowded = false;
        this.#onRoom();
      }
    }
  }
}
