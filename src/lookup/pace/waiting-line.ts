import { type Abortable, type AbortGroup, AbortGroups } from "../../api/http/abort-groups.js";

/**
 * Those who wait for their turn, first come, first served. Who waits costs one promise, and one
 * listener serves all who wait under the same signal.
 */
export class WaitingLine<T> {
  readonly #groups = new AbortGroups();
  readonly #onEmpty: () => void;
  #first: Waiter<T> | null = null;
  #last: Waiter<T> | null = null;
  #size = 0;

  /** @param onEmpty called when the last of those who waited gave up */
  constructor(onEmpty: () => void = () => undefined) {
    this.#onEmpty = onEmpty;
  }

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /**
   * Resolves when it is one's turn, to what `admit` says.
   *
   * @throws the signal's reason when it aborts first
   */
  join(signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => this.stand(signal, resolve, reject));
  }

  /** As `join`, for who has a promise already. */
  stand(
    signal: AbortSignal,
    admitted: (value: T) => void,
    gaveUp: (reason: unknown) => void,
  ): void {
    if (signal.aborted) return gaveUp(signal.reason);
    const waiter = new Waiter<T>(this.#groups.of(signal), admitted, gaveUp, this.#gaveUp);
    if (this.#last === null) this.#first = waiter;
    else this.#last.next = waiter;
    this.#last = waiter;
    this.#size++;
  }

  /** Lets the first one go. False when nobody waits. */
  admit(value: T): boolean {
    while (this.#first !== null) {
      const waiter = this.#first;
      this.#first = waiter.next;
      waiter.next = null;
      if (this.#first === null) this.#last = null;
      if (waiter.go(value)) {
        this.#size--;
        return true;
      }
    }
    return false;
  }

  readonly #gaveUp = (): void => {
    this.#size--;
    if (this.#size > 0) return;
    this.#first = null;
    this.#last = null;
    this.#onEmpty();
  };
}

class Waiter<T> implements Abortable {
  next: Waiter<T> | null = null;
  readonly #group: AbortGroup;
  readonly #seat: number;
  readonly #resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #gaveUp: () => void;
  #waits = true;

  constructor(
    group: AbortGroup,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
    gaveUp: () => void,
  ) {
    this.#group = group;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#gaveUp = gaveUp;
    this.#seat = group.join(this);
  }

  /** False when it gave up before. */
  go(value: T): boolean {
    if (!this.#waits) return false;
    this.#waits = false;
    this.#group.leave(this.#seat);
    this.#resolve(value);
    return true;
  }

  abort(reason: unknown): void {
    this.#waits = false;
    this.#group.leave(this.#seat);
    this.#reject(reason);
    this.#gaveUp();
  }
}
