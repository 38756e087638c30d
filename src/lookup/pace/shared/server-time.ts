/** How much two clocks may drift apart, as a share of the time between two calls. */
const drift = 2e-4;

/**
 * Maps the microseconds of a server's clock to this process's monotonic milliseconds. Each call bounds
 * the difference: the server read its clock between sending and receiving. Wall clocks don't matter.
 */
export class ServerTime {
  /** Bounds of local minus server time, in milliseconds. */
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  #notedMs = 0;

  /** Reports a call. Times of this process are monotonic milliseconds. */
  note(sentMs: number, receivedMs: number, serverUs: number): void {
    const low = sentMs - serverUs / 1000;
    const high = receivedMs - serverUs / 1000;
    const slack = (receivedMs - this.#notedMs) * drift;
    this.#notedMs = receivedMs;
    this.#low = Math.max(low, this.#low - slack);
    this.#high = Math.min(high, this.#high + slack);
    if (this.#low <= this.#high) return;
    // The server's clock was set, or another server answers.
    this.#low = low;
    this.#high = high;
  }

  toLocalMs(serverUs: number): number {
    return serverUs / 1000 + this.#differenceMs;
  }

  toServerMs(localMs: number): number {
    return localMs - this.#differenceMs;
  }

  get #differenceMs(): number {
    return Number.isFinite(this.#low) ? (this.#low + this.#high) / 2 : 0;
  }
}
