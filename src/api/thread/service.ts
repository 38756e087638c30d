import type { Abortable } from "../http/abort-groups.js";
import { TransportError } from "../http/transport-error.js";
import type { Answer, Receiver, Requests } from "../types.js";
import type { Arrivals, Orders, ThreadAnswer, ThreadFault } from "./messages.js";

export interface ThreadServiceOptions {
  readonly requests: Requests;
  /** Most requests open at once; others queue. */
  readonly connections: number;
  readonly post: (arrivals: Arrivals) => void;
}

/**
 * The thread's side: queues requests in front of its connections, and reports what ended together,
 * once per turn of the event loop.
 */
export class ThreadService {
  readonly #options: ThreadServiceOptions;
  #queue: ThreadRequest[] = [];
  readonly #open = new Map<number, ThreadRequest>();
  #answers: ThreadAnswer[] = [];
  #bodies: Buffer[] = [];
  #faults: ThreadFault[] = [];
  #willReport = false;

  constructor(options: ThreadServiceOptions) {
    this.#options = options;
  }

  take({ requests, cancelled }: Orders): void {
    for (const { id, path } of requests) this.#queue.push(new ThreadRequest(id, path, this.#ended));
    for (const id of cancelled) {
      this.#queue = this.#queue.filter((request) => request.id !== id);
      this.#open.get(id)?.abort();
    }
    this.#sendNext();
  }

  #sendNext(): void {
    const room = this.#options.connections - this.#open.size;
    for (const request of this.#queue.splice(0, room)) {
      this.#open.set(request.id, request);
      request.send(this.#options.requests);
    }
  }

  readonly #ended = (id: number, outcome: Answer | TransportError | null): void => {
    this.#open.delete(id);
    if (outcome instanceof TransportError) {
      const { code, message, httpStatus, cause } = outcome;
      // An error that crosses to another thread keeps its message alone.
      const why = cause instanceof Error ? cause.message : null;
      this.#faults.push({ id, code, message, httpStatus, cause: why });
    } else if (outcome !== null) {
      const { status, headers, body, tookMs = 0 } = outcome;
      this.#answers.push({ id, status, headers, length: body.length, tookMs });
      this.#bodies.push(body);
    }
    if (this.#willReport) return;
    this.#willReport = true;
    setImmediate(this.#report);
  };

  readonly #report = (): void => {
    this.#willReport = false;
    this.#sendNext();
    const bytes = this.#bodies.reduce((sum, { length }) => sum + length, 0);
    const bodies = new Uint8Array(bytes);
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

/** Never aborts: each request is broken off by itself. */
const { signal } = new AbortController();

/** Told once how a request ended: null when it was broken off. */
type OnEnd = (id: number, outcome: Answer | TransportError | null) => void;

class ThreadRequest implements Receiver {
  readonly id: number;
  readonly #path: string;
  readonly #onEnd: OnEnd;
  #sentAt = 0;
  #exchange: Abortable | null = null;

  constructor(id: number, path: string, onEnd: OnEnd) {
    this.id = id;
    this.#path = path;
    this.#onEnd = onEnd;
  }

  send(requests: Requests): void {
    this.#sentAt = performance.now();
    this.#exchange = requests.get(this.#path, signal, this);
  }

  abort(): void {
    this.#exchange?.abort(null);
  }

  answered(answer: Answer): void {
    this.#onEnd(this.id, { ...answer, tookMs: performance.now() - this.#sentAt });
  }

  failed(reason: unknown): void {
    this.#onEnd(this.id, reason instanceof TransportError ? reason : null);
  }
}
