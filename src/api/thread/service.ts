import type { Abortable } from "../abort-groups.js";
import { TransportError } from "../transport-error.js";
import type { Answer, Receiver, Requests } from "../types.js";
import { packAnswers, type SeatedAnswer } from "./answer-pack.js";
import type { Arrivals, Orders, ThreadFault } from "./messages.js";

/**
 * The thread's side: makes the requests that it is told to, and tells what came of them together,
 * once in each turn of the event loop.
 */
export class ThreadService {
  readonly #requests: Requests;
  readonly #post: (arrivals: Arrivals) => void;
  /** What is open, by seat. */
  readonly #open: (Abortable | null)[] = [];
  /** Never aborts: each request is broken off by itself. */
  readonly #signal = new AbortController().signal;
  #answers: SeatedAnswer[] = [];
  #faults: ThreadFault[] = [];
  #willTell = false;

  constructor(requests: Requests, post: (arrivals: Arrivals) => void) {
    this.#requests = requests;
    this.#post = post;
  }

  take({ seats, paths, cancelled }: Orders): void {
    if (seats.length > 0) {
      for (const [index, path] of paths.split("\n").entries()) this.#ask(seats[index] ?? 0, path);
    }
    for (const seat of cancelled) this.#open[seat]?.abort(null);
  }

  #ask(seat: number, path: string): void {
    let over = false;
    const receiver: Receiver = {
      answered: (answer) => {
        over = true;
        this.#answered(seat, answer);
      },
      failed: (reason) => {
        over = true;
        this.#failed(seat, reason);
      },
    };
    const request = this.#requests.get(path, this.#signal, receiver);
    if (!over) this.#open[seat] = request;
  }

  #answered(seat: number, answer: Answer): void {
    this.#open[seat] = null;
    this.#answers.push({ seat, answer });
    this.#tellSoon();
  }

  #failed(seat: number, reason: unknown): void {
    this.#open[seat] = null;
    this.#faults.push({ seat, error: reason instanceof TransportError ? plain(reason) : null });
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#willTell) return;
    this.#willTell = true;
    setImmediate(this.#tell);
  }

  readonly #tell = (): void => {
    this.#willTell = false;
    const arrivals = { ...packAnswers(this.#answers), faults: this.#faults };
    this.#answers = [];
    this.#faults = [];
    this.#post(arrivals);
  };
}

/** Its members: an error that crosses to another thread is left with its message alone. */
function plain({ code, message, httpStatus, cause }: TransportError): ThreadFault["error"] {
  return { code, message, httpStatus, cause: cause instanceof Error ? cause.message : null };
}
