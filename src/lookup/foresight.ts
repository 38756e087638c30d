/**
 * How many attempts may wait for a connection while all are in use: what comes free has its next
 * request at once, and two threads need not wait for each other.
 *
 * What waits has taken its leave from the pace already. So it is for services that show no limit: the
 * first sign of one, and it is over for the rest of the run.
 */
export class Foresight {
  /** What `most` is at the beginning. */
  readonly ceiling: number;
  #most: number;

  /** @param ceiling 0 for none */
  constructor(ceiling: number) {
    this.ceiling = ceiling;
    this.#most = ceiling;
  }

  /** How many may wait now. */
  get most(): number {
    return this.#most;
  }

  /** No more from now on. */
  end(): void {
    this.#most = 0;
  }
}
