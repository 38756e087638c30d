import { AbortGroups } from "../../api/http/transport.js";
import type { Attempt } from "../../core/attempt.js";
import type { Pace } from "./pace.js";
import type { RequestPace } from "./request-pace.js";
import type { AttemptWrapper } from "../types.js";

/** Waiting callers, first come, first served. One listener serves all that wait under one signal. */
export class FairQueue<T> {
  readonly #aborts = new AbortGroups();
  readonly #waiting = new Set<(value: T) => void>();
  readonly #onEmpty: () => void;

  /** @param onEmpty called when the last one that waited was aborted */
  constructor(onEmpty: () => void = () => undefined) {
    this.#onEmpty = onEmpty;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Resolves at the caller's turn, to what `release` is given.
   *
   * @throws the signal's reason when it aborts first
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

  /** Lets the first one go. False when nobody waits. */
  release(value: T): boolean {
    for (const go of this.#waiting) {
      this.#waiting.delete(go);
      go(value);
      return true;
    }
    return false;
  }
}

/** Spends from a pace of an endpoint's own, one that `isShare`, for every attempt. */
export function share(own: Pace): AttemptWrapper {
  const ended = (): void => own.ended();
  return (next) => (item, options) =>
    own.take(options.signal).then(() => {
      const finding = next(item, options);
      finding.then(ended, ended);
      return finding;
    });
}

/**
 * Spends from the pace of the run for every attempt, and tells it what came back.
 *
 * @param onThrottled called when the service asks for fewer requests
 */
export function paced(run: RequestPace, onThrottled?: () => void): AttemptWrapper {
  const settle = (attempt: Attempt, ticket: number): Attempt => {
    if (attempt.again?.policy === "throttled") {
      onThrottled?.();
      run.throttled(attempt.again.afterMs, ticket);
    }
    // Any other answer shows that the service takes requests; no answer does not.
    else if (attempt.finding.httpStatus !== null) run.succeeded(ticket);
    return attempt;
  };
  return (next) => (item, options) =>
    run
      .take(options.signal)
      .then((ticket) => next(item, options).then((attempt) => settle(attempt, ticket)));
}
