import type { Requests, Receiver } from "../types.js";
import type { ThreadStart, Arrivals, ArrivalsMessage, Orders } from "./service.js";
import { Worker } from "node:worker_threads";
import { parseBase } from "../options.js";
import { Transport } from "../http/transport.js";
import { ShortLivedMap } from "../../core/short-lived-map.js";
import { TransportError } from "../http/transport-error.js";

type ThreadTransport = Omit<ThreadStart, "connections">;

/** The thread's module is next to this one, also in the bundle. */
const threadEntry = new URL("./entry.js", import.meta.url);

/**
 * Makes requests on a separate thread, which handles connections, HTTP and timeouts. With two
 * processors and one lookup per row, a run is 1.17 times as fast with 32 open requests and 1.2 times
 * with 64, for 25 MB more memory.
 *
 * If the thread cannot start or breaks down, the caller's own thread takes over; requests open at that
 * time fail like on a broken connection.
 */
export class RequestThread {
  readonly #connections: number;
  readonly #entry: URL;
  readonly #opened: ThreadRequests[] = [];

  /**
   * @param connections maximum number of open connections; further requests queue on the thread
   * @param options `entry`: the module to run on the thread
   */
  constructor(connections: number, options: { readonly entry?: URL } = {}) {
    this.#connections = connections;
    this.#entry = options.entry ?? threadEntry;
  }

  /**
   * Creates one client's requests to a base address. Each client gets a thread, which starts with its
   * first request.
   *
   * @throws UsageError if the address is invalid
   */
  open(transport: ThreadTransport): Requests {
    const start = { ...transport, connections: this.#connections };
    const requests = new ThreadRequests(start, this.#entry);
    this.#opened.push(requests);
    return requests;
  }

  /** Stops every thread; open requests fail. */
  async destroy(): Promise<void> {
    await Promise.all(this.#opened.splice(0).map((requests) => requests.destroy()));
  }
}

/** Garbage on the thread is short-lived bodies; more room costs 28 MB and gains no speed. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Number of new requests that are sent before the end of the turn. */
const mostUnsent = 16;

/** Requests on the caller's own thread, and how to close their connections. */
interface OwnRequests {
  readonly requests: Requests;
  readonly destroy: () => Promise<void>;
}

type Request = Parameters<Requests["get"]>;

/** The caller's side of a thread: sends orders, receives answers. */
class ThreadRequests implements Requests {
  readonly #origin: string;
  readonly #start: ThreadStart;
  readonly #entry: URL;
  readonly #watched = new WeakSet<AbortSignal>();
  /** Requests whose outcome the thread hasn't reported yet. */
  readonly #pending = new ShortLivedMap<number, Request>();
  #lastId = 0;
  #orders: Orders = { requests: [], cancelled: [] };
  #willSend = false;
  #worker: Worker | null = null;
  #state: "open" | "broken" | "destroyed" = "open";
  /** Replaces a broken thread. */
  #fallback: Promise<OwnRequests> | null = null;

  constructor(start: ThreadStart, entry: URL) {
    this.#origin = parseBase(start.baseUrl).origin;
    this.#start = start;
    this.#entry = entry;
  }

  get(path: string, signal: AbortSignal, receiver: Receiver): null {
    if (signal.aborted) receiver.failed(signal.reason);
    else if (this.#state === "open") this.#order(path, signal, receiver);
    else if (this.#state === "broken") this.#sendHere(path, signal, receiver);
    else receiver.failed(this.#fault("the connections are closed"));
    return null;
  }

  async destroy(): Promise<void> {
    if (this.#state === "destroyed") return;
    this.#state = "destroyed";
    this.#failAll(this.#fault("the connections are closed"));
    await this.#worker?.terminate();
    // A fallback that failed to open has failed its requests already.
    await (await this.#fallback?.catch(() => null))?.destroy();
  }

  #order(...request: Request): void {
    const [path, signal] = request;
    const id = ++this.#lastId;
    this.#watch(signal);
    this.#pending.set(id, request);
    this.#orders.requests.push([id, path]);
    this.#sendSoon();
  }

  #watch(signal: AbortSignal): void {
    if (this.#watched.has(signal)) return;
    this.#watched.add(signal);
    signal.addEventListener("abort", () => this.#cancel(signal), { once: true });
  }

  #cancel(signal: AbortSignal): void {
    for (const id of this.#pending.keys()) {
      if (this.#pending.get(id)?.[1] !== signal) continue;
      this.#settle(id)?.failed(signal.reason);
      this.#orders.cancelled.push(id);
    }
    this.#sendSoon();
  }

  /** Sends orders of one turn together, but not so many that the thread waits for them. */
  #sendSoon(): void {
    if (this.#orders.requests.length >= mostUnsent) return this.#send();
    if (this.#willSend) return;
    this.#willSend = true;
    setImmediate(() => {
      this.#willSend = false;
      this.#send();
    });
  }

  #send(): void {
    const orders = this.#orders;
    this.#orders = { requests: [], cancelled: [] };
    const isNothing = orders.requests.length + orders.cancelled.length === 0;
    if (isNothing || this.#state !== "open") return;
    try {
      const worker = this.#worker ?? this.#startWorker();
      worker.postMessage(JSON.stringify(orders), []);
    } catch {
      // No thread can be started, and nothing has been sent.
      this.#state = "broken";
      for (const request of this.#takePending()) this.#sendHere(...request);
    }
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#entry, { name: "repute requests", resourceLimits });
    this.#worker = worker;
    worker.on("message", (message: ArrivalsMessage) => this.#arrived(message));
    worker.on("error", (error) => this.#broke(error));
    worker.on("exit", () => this.#broke(new Error("it ended")));
    worker.postMessage(this.#start, []);
    return worker;
  }

  #arrived({ text, bodies }: ArrivalsMessage): void {
    const { answers, faults } = JSON.parse(text) as Omit<Arrivals, "bodies">;
    for (const { id, code, message, ...more } of faults) {
      this.#settle(id)?.failed(new TransportError(code, message, more));
    }
    let end = 0;
    for (const [id, status, length, headers] of answers) {
      const body = Buffer.from(bodies.buffer, end, length);
      end += length;
      this.#settle(id)?.answered({ status, headers, body });
    }
  }

  #settle(id: number): Receiver | undefined {
    return this.#pending.take(id)?.[2];
  }

  #broke(cause: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "broken";
    this.#failAll(this.#fault("the request thread broke down", cause));
  }

  #failAll(error: TransportError): void {
    for (const [, , receiver] of this.#takePending()) receiver.failed(error);
  }

  #takePending(): readonly Request[] {
    return [...this.#pending.keys()].map((id) => this.#pending.take(id)!);
  }

  #fault(what: string, cause: unknown = null): TransportError {
    return new TransportError("connection_reset", `${this.#origin}: ${what}`, { cause });
  }

  #sendHere(...request: Request): void {
    const [, , receiver] = request;
    this.#fallback ??= requestsHere(this.#start);
    this.#fallback.then(
      ({ requests }) => requests.get(...request),
      (error: unknown) => receiver.failed(error),
    );
  }
}

async function requestsHere(start: ThreadStart): Promise<OwnRequests> {
  const { createDispatcher } = await import("../http/dispatcher.js");
  const dispatcher = createDispatcher(start.baseUrl, { connections: start.connections });
  return {
    requests: new Transport({ ...start, dispatcher }),
    destroy: () => dispatcher.destroy(),
  };
}
