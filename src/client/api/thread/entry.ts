import { parentPort } from "node:worker_threads";
import { systemClock } from "../../../core/clock.js";
import { createDispatcher } from "../http/dispatcher.js";
import { TransportError } from "../http/transport-error.js";
import { Transport } from "../http/transport.js";
import type { Answer } from "../types.js";

/** First message to the thread. */
export interface ThreadStart extends Omit<
  ConstructorParameters<typeof Transport>[0],
  "dispatcher"
> {
  readonly connections: number;
}

/** A request to make. `path` is relative to the base address, and encoded. */
type Order = readonly [id: number, path: string];

/**
 * To the thread: requests to make, and ids of queued requests to drop. From now on, requests are sent at
 * least this many milliseconds apart.
 */
export type OrdersMessage = readonly [apartMs: number, orders: (Order | number)[]];

/** From the thread: requests that ended since the last message. */
export interface Arrivals {
  /** Each answer's body is the next `length` bytes of the message's `bodies`. */
  readonly answers: (readonly [id: number, length: number, Omit<Answer, "body">])[];
  /** Requests without an answer. */
  readonly faults: (readonly [id: number, ...ConstructorParameters<typeof TransportError>])[];
}

/** Arrivals as posted between threads: parsing text is cheaper than a structured clone. */
export interface ArrivalsMessage {
  /** `Arrivals` as JSON. */
  readonly text: string;
  readonly bodies: Uint8Array<ArrayBuffer>;
}

/**
 * Runs in the request thread. Sends requests over its connections, queues the rest, and reports
 * answers and faults in batches, once per turn of the event loop.
 */
class RequestSender {
  readonly #transport: Transport;
  readonly #connections: number;
  #queue: Order[] = [];
  #open = 0;
  #apartMs = 0;
  #sentMs = 0;
  #isWaiting = false;
  #answers: Arrivals["answers"] = [];
  #bodies: Buffer[] = [];
  #faults: Arrivals["faults"] = [];
  #willReport = false;

  constructor({ connections, ...start }: ThreadStart) {
    const dispatcher = createDispatcher(start.baseUrl, { connections });
    this.#transport = new Transport({ ...start, dispatcher });
    this.#connections = connections;
  }

  take([apartMs, orders]: OrdersMessage): void {
    this.#apartMs = apartMs;
    const dropped = new Set(orders.filter((order) => typeof order === "number"));
    if (dropped.size > 0) this.#queue = this.#queue.filter(([id]) => !dropped.has(id));
    this.#queue.push(...orders.filter((order) => typeof order !== "number"));
    this.#sendNext();
  }

  #sendNext(): void {
    while (this.#queue.length > 0 && this.#open < this.#connections) {
      const now = performance.now();
      const waitMs = this.#sentMs + this.#apartMs - now;
      if (waitMs > 0) {
        if (!this.#isWaiting) void systemClock.sleep(waitMs, undefined, true).then(this.#wake);
        this.#isWaiting = true;
        return;
      }
      // A late wake-up makes the next one a little earlier, so that lateness does not add up.
      this.#sentMs = Math.max(this.#sentMs + this.#apartMs, now - carried * this.#apartMs);
      const [id, path] = this.#queue.shift()!;
      this.#open++;
      this.#transport.get(path, signal, {
        answered: (answer) => this.#answered(id, answer),
        failed: (reason) => this.#failed(id, reason),
      });
    }
  }

  readonly #wake = (): void => {
    this.#isWaiting = false;
    this.#sendNext();
  };

  #answered(id: number, { status, headers, body }: Answer): void {
    this.#answers.push([id, body.length, { status, headers }]);
    this.#bodies.push(body);
    this.#ended();
  }

  #failed(id: number, reason: unknown): void {
    if (!(reason instanceof TransportError)) throw reason;
    const { code, message, httpStatus, cause } = reason;
    // JSON cannot hold an Error.
    const why = cause instanceof Error ? cause.message : null;
    this.#faults.push([id, code, message, { httpStatus, cause: why }]);
    this.#ended();
  }

  #ended(): void {
    this.#open--;
    if (this.#willReport) return;
    this.#willReport = true;
    setImmediate(this.#report);
  }

  readonly #report = (): void => {
    this.#willReport = false;
    this.#sendNext();
    // A copy with memory of its own, which can be handed over.
    const bodies = new Uint8Array(Buffer.concat(this.#bodies));
    const arrivals: Arrivals = { answers: this.#answers, faults: this.#faults };
    [this.#answers, this.#bodies, this.#faults] = [[], [], []];
    const message: ArrivalsMessage = { text: JSON.stringify(arrivals), bodies };
    parentPort?.postMessage(message, [bodies.buffer]);
  };
}

/** How early a request may be after a late one, as a share of the interval. */
const carried = 0.05;

/** Never aborts: requests end with the thread. */
const { signal } = new AbortController();

parentPort?.once("message", (start: ThreadStart) => {
  const sender = new RequestSender(start);
  parentPort?.on("message", (orders: string) => sender.take(JSON.parse(orders) as OrdersMessage));
});
