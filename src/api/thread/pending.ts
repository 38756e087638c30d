import type { Abortable, AbortGroup } from "../http/abort-groups.js";
import type { Receiver } from "../types.js";

/** What was asked, as `Requests` has it. */
interface Asked {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly receiver: Receiver;
}

/** A request that the thread has not told the end of. */
export class Pending implements Abortable {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly #receiver: Receiver;
  readonly #group: AbortGroup;
  readonly #groupSeat: number;
  readonly #onAbort: () => void;

  constructor({ path, signal, receiver }: Asked, group: AbortGroup, onAbort: () => void) {
    this.path = path;
    this.signal = signal;
    this.#receiver = receiver;
    this.#group = group;
    this.#onAbort = onAbort;
    this.#groupSeat = group.join(this);
  }

  settle(): Receiver {
    this.#group.leave(this.#groupSeat);
    return this.#receiver;
  }

  abort(reason: unknown): void {
    this.#onAbort();
    this.settle().failed(reason);
  }
}
