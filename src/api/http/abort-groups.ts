/** Something that ends early when told to. */
export interface Abortable {
  abort(reason: unknown): void;
}

/** Takes a member out of its group. */
export type Leave = () => void;

/**
 * Ends what runs under a signal when the signal aborts, with one listener a signal however much
 * runs under it: a run has one signal and thousands of requests.
 */
export class AbortGroups {
  readonly #groups = new WeakMap<AbortSignal, AbortGroup>();

  /** Adds a member to the group of a signal that has not aborted. */
  join(signal: AbortSignal, member: Abortable): Leave {
    let group = this.#groups.get(signal);
    if (group === undefined) {
      group = new AbortGroup(signal);
      this.#groups.set(signal, group);
    }
    return group.join(member);
  }
}

/**
 * What runs under one signal. Members sit in a list whose seats are reused and never rebuilt: the
 * dead tables that a set leaves behind would keep past members from the garbage collector's quick
 * passes, which is the larger part of a request's cost.
 */
class AbortGroup {
  readonly #signal: AbortSignal;
  readonly #seats: (Abortable | null)[] = [];
  readonly #free: number[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  join(member: Abortable): Leave {
    if (this.#free.length === this.#seats.length) {
      this.#signal.addEventListener("abort", this.#onAbort);
    }
    const seat = this.#free.pop() ?? this.#seats.length;
    this.#seats[seat] = member;
    return () => {
      this.#seats[seat] = null;
      this.#free.push(seat);
      if (this.#free.length === this.#seats.length) {
        this.#signal.removeEventListener("abort", this.#onAbort);
      }
    };
  }

  readonly #onAbort = (): void => {
    for (const member of this.#seats) member?.abort(this.#signal.reason);
  };
}
