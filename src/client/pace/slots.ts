import pLimit, { type LimitFunction } from "p-limit";
import { AbortGroups } from "../../core/abort.js";

/**
 * Number of attempts that may be open at first, since all of them may exceed an unknown limit. Each one
 * that ends makes room for one more.
 */
const openAtFirst = 8;

/** Number of waiting attempts that count as crowded: enough that slots never run empty. */
const crowd = 16;

/** Bounds the number of open attempts over all endpoints. */
export class Slots {
  readonly #concurrency: number;
  readonly #limit: LimitFunction;
  #crowded = false;
  #onRoom: () => void = () => undefined;

  /** @param concurrency maximum number of open attempts, at least 1 */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
    this.#limit = pLimit(Math.min(openAtFirst, concurrency));
  }

  /**
   * True from the time when enough attempts wait until half of them do: no more rows should start. Rows
   * started too early fall out of the processor's cache before their turn, and outlive collections of
   * garbage: as many as there are slots take a fifth more memory.
   */
  get crowded(): boolean {
    return this.#crowded;
  }

  /** Sets the listener, replacing any earlier one, that is called whenever `crowded` turns false. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /**
   * Gives each attempt a slot. An attempt whose signal aborts while it waits is refused at its turn:
   * one signal aborts all attempts of a run, so the slots are free at once.
   */
  readonly limit = <I, O extends { readonly signal: AbortSignal }, A>(
    next: (item: I, options: O) => Promise<A>,
  ): typeof next => {
    const open = (): void => {
      if (this.#limit.concurrency < this.#concurrency) this.#limit.concurrency++;
    };
    const turn = (item: I, options: O): Promise<A> => {
      this.#noteWaiting();
      options.signal.throwIfAborted();
      const attempt = next(item, options);
      if (this.#limit.concurrency < this.#concurrency) attempt.then(open, open);
      return attempt;
    };
    return (item, options) => {
      const attempt = this.#limit(turn, item, options);
      this.#noteWaiting();
      return attempt;
    };
  };

  #noteWaiting(): void {
    const waiting = this.#limit.pendingCount;
    if (waiting >= crowd) {
      this.#crowded = true;
    } else if (this.#crowded && 2 * waiting <= crowd) {
      this.#crowded = false;
      this.#onRoom();
    }
  }
}

/** First come, first served. Uses one listener per signal, however many callers wait under it. */
export class FairQueue<T> {
  readonly #aborts = new AbortGroups();
  readonly #waiting = new Set<(value: T) => void>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when the last waiting caller is aborted */
  constructor(onEmpty: () => void = () => undefined) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves at the caller's turn, to the value passed to `release`.
   *
   * @throws the signal's reason if it aborts first
   */
  enqueue(signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const go = (value: T): void => {
        leave();
        resolve(value);
      };
      const leave = this.#aborts.join(signal, {
        abort: (reason) => {
          leave();
          this.#waiting.delete(go);
          reject(reason);
          if (this.#waiting.size === 0) this.#onEmpty();
        },
      });
      this.#waiting.add(go);
    });
  }

  /** Releases the first caller. False if the queue is empty. */
  release(value: T): boolean {
    for (const go of this.#waiting) {
      this.#waiting.delete(go);
      go(value);
      return true;
    }
    return false;
  }
}
