import { AbortGroups } from "../../core/abort.js";

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
