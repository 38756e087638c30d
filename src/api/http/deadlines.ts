/** Something whose time may run out. */
export interface Expiring {
  expire(): void;
}

/** A place among those whose time runs; `Deadlines` alone reads what it holds. */
export interface DeadlineSeat {
  readonly member: Expiring;
  readonly dueAt: number;
  previous: DeadlineSeat | null;
  next: DeadlineSeat | null;
}

/**
 * Ends what takes longer than a length of time that is the same for all: who came first is due first,
 * so one timer serves them all. A timer for each of thousands of requests a second, hardly one of
 * which ever fires, costs 0.7 µs and 400 bytes a request.
 */
export class Deadlines {
  readonly #ms: number;
  #first: DeadlineSeat | null = null;
  #last: DeadlineSeat | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** @param ms how long each may take, in milliseconds */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** The time begins to run; `leave` with what this returns ends it. */
  join(member: Expiring): DeadlineSeat {
    const seat: DeadlineSeat = {
      member,
      dueAt: performance.now() + this.#ms,
      previous: this.#last,
      next: null,
    };
    if (this.#last === null) this.#first = seat;
    else this.#last.next = seat;
    this.#last = seat;
    this.#timer ??= timerOf(this.#ms, this.#onTimer);
    return seat;
  }

  leave(seat: DeadlineSeat): void {
    if (seat.previous === null) this.#first = seat.next;
    else seat.previous.next = seat.next;
    if (seat.next === null) this.#last = seat.previous;
    else seat.next.previous = seat.previous;
    // A seat that has grown old would keep all after it from the garbage collector's quick passes.
    seat.previous = null;
    seat.next = null;
    if (this.#first !== null || this.#timer === null) return;
    // Nobody waits, so the timer must not keep the process alive.
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  readonly #onTimer = (): void => {
    const now = performance.now();
    this.#timer = null;
    // A member that expires leaves its seat.
    while (this.#first !== null && this.#first.dueAt <= now) this.#first.member.expire();
    if (this.#first === null) return;
    this.#timer ??= timerOf(this.#first.dueAt - now, this.#onTimer);
  };
}

/** Longest time that a timer takes, in milliseconds; one that ends early is only set again. */
const longestMs = 2 ** 31 - 1;

function timerOf(ms: number, onTimer: () => void): NodeJS.Timeout {
  return setTimeout(onTimer, Math.min(Math.ceil(ms), longestMs));
}
