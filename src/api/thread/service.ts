import type { Abortable } from "../../core/abort.js";
import { TransportError } from "../http/transport-error.js";
import type { Answer, Requests } from "../types.js";
import type { Arrivals, Orders } from "./messages.js";

export interface ThreadServiceOptions {
  readonly requests: Requests;
  /** Most requests open at once; others queue. */
  readonly connections: number;
  readonly post: (arrivals: Arrivals) => void;
}

/** Never aborts: each request is broken off by itself. */
const { signal } = new AbortController();

/**
 * The thread's side: queues requests in front of its connections, and reports what ended together,
 * once per turn of the event loop.
 */
export class ThreadService {
  readonly #options: ThreadServiceOptions;
  #queue: Orders["requests"] = [];
  /** What ends each open request; null while it is being sent. */
  readonly #open = new Map<number, Abortable | null>();
  #answers: Arrivals["answers"] = [];
  #bodies: Buffer[] = [];
  #faults: Arrivals["faults"] = [];
  #willReport = false;

  constructor(options: ThreadServiceOptions) {
    this.#options = options;
  }

  take({ requests, cancelled }: Orders): void {
    this.#queue.push(...requests);
    for (const id of cancelled) {
      this.#queue = this.#queue.filter((request) => request.id !== id);
      this.#open.get(id)?.abort(null);
    }
    this.#sendNext();
  }

  #sendNext(): void {
    const { connections, requests } = this.#options;
    for (const { id, path } of this.#queue.splice(0, connections - this.#open.size)) {
      this.#open.set(id, null);
      const exchange = requests.get(path, signal, {
        answered: (answer) => this.#answered(id, answer),
        failed: (reason) => this.#failed(id, reason),
      });
      if (this.#open.has(id)) this.#open.set(id, exchange);
    }
  }

  #answered(id: number, { status, headers, body }: Answer): void {
    this.#answers.push({ id, status, headers, length: body.length });
    this.#bodies.push(body);
    this.#ended(id);
  }

  #failed(id: number, reason: unknown): void {
    // One that was broken off is not reported.
    if (reason instanceof TransportError) {
      const { code, message, httpStatus, cause } = reason;
      // An error that crosses to another thread keeps its message alone.
      const why = cause instanceof Error ? cause.message : null;
      this.#faults.push({ id, code, message, httpStatus, cause: why });
    }
    this.#ended(id);
  }

  #ended(id: number): void {
    this.#open.delete(id);
    if (this.#willReport) return;
    this.#willReport = true;
    setImmediate(this.#report);
  }

  readonly #report = (): void => {
    this.#willReport = false;
    this.#sendNext();
    const bodies = new Uint8Array(this.#bodies.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const body of this.#bodies) {
      bodies.set(body, end);
      end += body.length;
    }
    const [answers, faults] = [this.#answers, this.#faults];
    [this.#answers, this.#bodies, this.#faults] = [[], [], []];
    this.#options.post({ answers, bodies, faults });
  };
}
