/**
 * How many attempts may queue in front of the connections while all of them are in use, so that one
 * that comes free has its next request at once.
 *
 * What queues has left the pace already. So this is for services that show no limit: it begins with the
 * first good answer, and the first sign of a limit ends it for the rest of the run.
 */
export class SendAhead {
  /** Most that may ever queue. */
  readonly ceiling: number;
  #most = 0;
  #isOver = false;

  /** @param ceiling 0 for none */
  constructor(ceiling: number) {
    this.ceiling = ceiling;
  }

  /** How many may queue now. */
  get most(): number {
    return this.#most;
  }

  begin(): void {
    if (!this.#isOver) this.#most = this.ceiling;
  }

  end(): void {
    this.#isOver = true;
    this.#most = 0;
  }
}
