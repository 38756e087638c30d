interface Waiter {
  readonly ready: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Those who wait, each until what it waits for is so. */
export class Waiters {
  #waiting: Waiter[] = [];

  /** Resolves when `ready` is found true; at once when it is. */
  until(ready: () => boolean): Promise<void> {
    if (ready()) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.push({ ready, resolve, reject }));
  }

  /** Lets those go on for whom it is so by now. */
  wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) {
      if (waiter.ready()) waiter.resolve();
      else this.#waiting.push(waiter);
    }
  }

  /** Tells all of them that it will never be so. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
