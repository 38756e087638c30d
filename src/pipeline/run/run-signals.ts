/**
 * How a run comes to its end, in this order:
 *
 *     interrupted  from outside: Ctrl-C, or the caller's signal
 *     stop         no further row is started, and lookups no longer wait for their turn
 *     requests     open requests are cancelled
 *     over         the run has ended, well or not: its timers end
 *
 * An interrupt stops the run. So do a spent budget, a deadline and every failure, by `end`.
 */
export class RunSignals {
  readonly interrupted: AbortSignal;
  readonly #stop = new AbortController();
  readonly #requests = new AbortController();
  readonly #over = new AbortController();
  readonly stop: AbortSignal = this.#stop.signal;
  readonly requests: AbortSignal = this.#requests.signal;
  readonly over: AbortSignal = this.#over.signal;

  constructor(interrupted: AbortSignal) {
    this.interrupted = interrupted;
    const onInterrupt = (): void => this.end(interrupted.reason);
    if (interrupted.aborted) onInterrupt();
    interrupted.addEventListener("abort", onInterrupt, { once: true, signal: this.over });
  }

  /** Stops the run. The first reason counts. */
  end(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Cancels the requests that are open. */
  cancelRequests(reason: unknown): void {
    this.end(reason);
    this.#requests.abort(reason);
  }

  close(): void {
    this.#over.abort();
  }
}
