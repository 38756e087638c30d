import { setImmediate as turn } from "node:timers/promises";
import { EarlyEndError } from "../../core/errors.js";
import type { Paces } from "../lookup/open-connections.js";
import type { Outcomes, PaceName } from "./messages.js";
import type { Worker } from "./start-worker.js";

/** Hands out the slots of the run's paces to its workers. */
export class SharedSlots {
  readonly #paces: Paces;
  readonly #signal: AbortSignal;
  readonly #onSpent: (error: EarlyEndError) => void;
  readonly #most: number;
  #left: number;
  readonly #granted = new Map<Worker, Map<PaceName, Map<number, number>>>();

  /**
   * @param maxRequests slots of the run in all
   * @param onSpent called when a request is wanted beyond those
   */
  constructor(
    paces: Paces,
    {
      maxRequests,
      signal,
      onSpent,
    }: {
      readonly maxRequests: number | undefined;
      readonly signal: AbortSignal;
      readonly onSpent: (error: EarlyEndError) => void;
    },
  ) {
    this.#paces = paces;
    this.#signal = signal;
    this.#onSpent = onSpent;
    this.#most = maxRequests ?? Number.POSITIVE_INFINITY;
    this.#left = this.#most;
  }

  /** Takes note of what a worker reports, and queues the slots that it wants. */
  report(worker: Worker, { pace, take, succeeded, throttled, holds, advice }: Outcomes): void {
    if (pace === "run") {
      const { run } = this.#paces;
      for (const { afterMs, ticket } of throttled) run.throttled(afterMs, ticket);
      for (const [ticket, count] of succeeded) {
        for (let n = 0; n < count; n++) run.succeeded(ticket);
      }
      for (const ms of holds) run.hold(ms);
      for (const { by, rate } of advice) run.advise(by, rate);
    } else {
      const share = this.#paces.shares[pace];
      for (const [, count] of succeeded) for (let n = 0; n < count; n++) share?.ended();
    }
    for (let n = 0; n < take; n++) this.#take(worker, pace);
  }

  #take(worker: Worker, pace: PaceName): void {
    const from = pace === "run" ? this.#paces.run : this.#paces.shares[pace];
    from?.take(this.#signal).then(
      (ticket) => {
        if (pace === "run" && this.#left-- <= 0) void this.#spent();
        else this.#grant(worker, pace, Number(ticket));
      },
      (error: unknown) => {
        if (error instanceof EarlyEndError) this.#onSpent(error);
      },
    );
  }

  /** The slots granted before leave first. */
  async #spent(): Promise<void> {
    await turn();
    this.#onSpent(new EarlyEndError("requests_spent", `--max-requests ${this.#most} is used up`));
  }

  /** Slots of one turn travel as one message. */
  #grant(worker: Worker, pace: PaceName, ticket: number): void {
    let ofWorker = this.#granted.get(worker);
    if (ofWorker === undefined) {
      ofWorker = new Map();
      this.#granted.set(worker, ofWorker);
      void turn().then(() => this.#send(worker));
    }
    const tickets = ofWorker.get(pace) ?? new Map<number, number>();
    ofWorker.set(pace, tickets);
    tickets.set(ticket, (tickets.get(ticket) ?? 0) + 1);
  }

  #send(worker: Worker): void {
    const slots = this.#granted.get(worker) ?? [];
    this.#granted.delete(worker);
    for (const [pace, tickets] of slots) {
      worker.post({ type: "slots", pace, granted: [...tickets] });
    }
  }
}
