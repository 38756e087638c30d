import type { Rate } from "../../core/options.js";
import { FairQueue } from "../../lookup/pace/fair-queue.js";
import type { RequestPace } from "../../lookup/pace/request-pace.js";
import type { Outcomes, PaceName } from "./messages.js";

/**
 * A pace that the parent process keeps for all workers. What happens within one turn of the event
 * loop travels as one message.
 */
export class RemotePace implements RequestPace {
  readonly #name: PaceName;
  readonly #report: (outcomes: Outcomes) => void;
  readonly #queue = new FairQueue<number | Error>();
  #ended: Error | null = null;
  #take = 0;
  #succeeded: number[] = [];
  #throttled: Outcomes["throttled"][number][] = [];
  #holds: number[] = [];
  #advice: Outcomes["advice"][number][] = [];
  #isDue = false;

  constructor(name: PaceName, report: (outcomes: Outcomes) => void) {
    this.#name = name;
    this.#report = report;
  }

  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    this.#take++;
    this.#later();
    return this.#queue.enqueue(signal).then((turn) => {
      if (turn instanceof Error) throw turn;
      return turn;
    });
  }

  /** The parent grants slots. */
  grant(tickets: readonly number[]): void {
    for (const ticket of tickets) this.#queue.release(ticket);
  }

  /** Nothing may be sent any more. */
  end(error: Error): void {
    this.#ended = error;
    while (this.#queue.release(error));
  }

  throttled(afterMs: number | null, ticket: number): void {
    this.#throttled.push({ afterMs, ticket });
    this.#later();
  }

  succeeded(ticket: number): void {
    this.#succeeded.push(ticket);
    this.#later();
  }

  /** A request of an endpoint's own pace has ended. */
  ended(): void {
    this.succeeded(0);
  }

  hold(ms: number): void {
    this.#holds.push(ms);
    this.#later();
  }

  advise(by: string, rate: Rate): void {
    this.#advice.push({ by, rate });
    this.#later();
  }

  #later(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#report({
        type: "outcomes",
        pace: this.#name,
        take: this.#take,
        succeeded: this.#succeeded,
        throttled: this.#throttled,
        holds: this.#holds,
        advice: this.#advice,
      });
      this.#take = 0;
      this.#succeeded = [];
      this.#throttled = [];
      this.#holds = [];
      this.#advice = [];
    });
  }
}
