/** Timers in simulated time, which passes only in `run`. */
export class SimulatedTimers {
  #now = 0;
  /** The first one last. */
  readonly #timers: { readonly due: number; readonly end: () => void }[] = [];

  get now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        const found = this.#timers.indexOf(timer);
        if (found >= 0) this.#timers.splice(found, 1);
        reject(signal?.reason);
      };
      const end = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      const timer = { due: this.#now + ms, end };
      let [from, to] = [0, this.#timers.length];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (this.#timers[middle]!.due > timer.due) from = middle + 1;
        else to = middle;
      }
      this.#timers.splice(from, 0, timer);
      signal?.addEventListener("abort", onAbort);
    });
  }

  /** @param settle resolves once everything that follows from a timer has happened */
  async run(untilMs: number, settle: () => Promise<void>): Promise<void> {
    for (;;) {
      await settle();
      const next = this.#timers.at(-1);
      if (next === undefined || next.due > untilMs) break;
      this.#timers.pop();
      this.#now = Math.max(this.#now, next.due);
      next.end();
    }
    this.#now = untilMs;
  }
}
