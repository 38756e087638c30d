import { AbortGroups } from "../../api/http/abort-groups.js";
import type { Clock } from "../../core/clock.js";

/** Sleeps that end with a signal; one listener a signal, however many sleep under it. */
export class Sleeps {
  readonly #clock: Clock;
  readonly #groups = new AbortGroups();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws the signal's reason when it aborts first */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw signal.reason;
    const own = new AbortController();
    const leave = this.#groups.join(signal, own);
    try {
      await this.#clock.sleep(ms, own.signal);
    } finally {
      leave();
    }
  }
}
