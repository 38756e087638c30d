import { FatalError, InterruptedError } from "../../core/errors.js";

/**
 * The lock of a chunk in progress. Its signal aborts once this worker may not go on: the lock is
 * lost, or may be, because Redis has not renewed it in time.
 */
export class HeldLock {
  readonly signal: AbortSignal;
  readonly #lockMs: number;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt = performance.now();
  #isLost = false;
  #isStopped = false;

  /** @param outer aborts when the worker is told to stop */
  constructor(lockMs: number, outer: AbortSignal) {
    this.#lockMs = lockMs;
    this.signal = AbortSignal.any([outer, this.#controller.signal]);
    // While Redis is away, or after the process was stopped, only the time tells.
    this.#timer = setInterval(() => this.#isOverdue() && this.lose(), lockMs / 8);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Whether the run was stopped. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  renewed(): void {
    if (!this.#isOverdue()) this.#renewedAt = performance.now();
  }

  /** Another worker has the chunk, or may have it. */
  lose(): void {
    this.#isLost = true;
    this.end(new FatalError("lock_lost", "another worker does this chunk"));
  }

  /** The coordinator has stopped the run. */
  stop(): void {
    this.#isStopped = true;
    this.end(new InterruptedError("SIGTERM"));
  }

  /** Ends the chunk. The first reason counts. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #isOverdue(): boolean {
    return performance.now() - this.#renewedAt > this.#lockMs;
  }
}
