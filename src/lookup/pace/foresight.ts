/**
 * How many attempts may wait for a connection while all are in use: what comes free has its next
 * request at once, and two threads need not wait for each other.
 *
 * What waits has taken its leave from the pace already. So it is for services that show no limit: it
 * begins with the first answer that tells of none, and the first sign of one ends it for the rest of
 * the run.
 */
export class Foresight {
  /** Most that may ever wait. */
  readonly ceiling: number;
  #most = 0;
  #over = false;

  /** @param ceiling 0 for none */
  constructor(ceiling: number) {
    this.ceiling = ceiling;
  }

  /** How many may wait now. */
  get most(): number {
    return this.#most;
  }

  /** There was an answer, and no sign of a limit. */
  begin(): void {
    if (!this.#over) this.#most = this.ceiling;
  }

  /** None may wait from now on. */
  end(): void {
    this.#over = true;
    this.#most = 0;
  }
}
