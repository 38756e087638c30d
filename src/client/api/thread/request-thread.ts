import type { Requests, Receiver } from "../types.js";
import type { ThreadStart, Arrivals, ArrivalsMessage, OrdersMessage } from "./entry.js";
import { Worker } from "node:worker_threads";
import { parseBase } from "../options.js";
import { proxyFor } from "../http/proxy.js";
import { AbortGroups, type Leave } from "../../../core/abort.js";
import { ShortLivedMap } from "../../../core/short-lived-map.js";
import { TransportError } from "../http/transport-error.js";

/** The thread's module is next to this one, also in the bundle. */
const threadEntry = new URL("./entry.js", import.meta.url);

/**
 * Makes requests on a separate thread, which handles connections, HTTP and timeouts. With two
 * processors and one lookup per row, a run is 1.17 times as fast with 32 open requests and 1.2 times
 * with 64, for 25 MB more memory. Each client gets a thread, which starts with its first request.
 *
 * If a thread cannot start or breaks down, its requests fail like on a broken connection; the next
 * request starts another one.
 *
 * @param connections maximum number of open connections; further requests queue on the thread
 * @param apartMs tells how far apart the thread sends requests at least, in milliseconds
 * @param entry the module to run on the thread
 */
export function requestThread(connections: number, apartMs = () => 0, entry = threadEntry) {
  const opened: ThreadRequests[] = [];
  return {
    /** @throws UsageError if the address, or that of its proxy, is invalid */
    open(transport: Omit<ThreadStart, "connections">): Requests {
      const requests = new ThreadRequests({ ...transport, connections }, apartMs, entry);
      opened.push(requests);
      return requests;
    },
    async destroy(): Promise<void> {
      await Promise.all(opened.map((requests) => requests.destroy()));
    },
  };
}

/** Garbage on the thread is short-lived bodies; more room costs 28 MB and gains no speed. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Number of new requests that are sent before the end of the turn. */
const mostUnsent = 16;

/** The caller's side of a thread: sends orders, receives answers. */
class ThreadRequests implements Requests {
  readonly #origin: string;
  readonly #start: ThreadStart;
  readonly #apartMs: () => number;
  readonly #entry: URL;
  readonly #aborts = new AbortGroups();
  /** Requests whose outcome the thread hasn't reported yet. */
  readonly #pending = new ShortLivedMap<number, readonly [Leave, Receiver]>();
  #lastId = 0;
  #orders: OrdersMessage[1] = [];
  #willSend = false;
  #worker: Worker | null = null;
  #isDestroyed = false;

  constructor(start: ThreadStart, apartMs: () => number, entry: URL) {
    const base = parseBase(start.baseUrl);
    proxyFor(base, process.env);
    this.#origin = base.origin;
    this.#start = start;
    this.#apartMs = apartMs;
    this.#entry = entry;
  }

  get(path: string, signal: AbortSignal, receiver: Receiver): void {
    if (signal.aborted) return receiver.failed(signal.reason);
    if (this.#isDestroyed) return receiver.failed(this.#fault("the connections are closed"));
    const id = ++this.#lastId;
    const abort = (reason: unknown): void => this.#drop(id, reason);
    this.#pending.set(id, [this.#aborts.join(signal, { abort }), receiver]);
    this.#orders.push([id, path]);
    this.#sendSoon();
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    this.#failAll(this.#fault("the connections are closed"));
    await this.#worker?.terminate();
  }

  /** A request that has begun runs to its end on the thread; nobody waits for it. */
  #drop(id: number, reason: unknown): void {
    this.#orders.push(id);
    this.#sendSoon();
    this.#settle(id)?.failed(reason);
  }

  /** Sends orders of one turn together, but not so many that the thread waits for them. */
  #sendSoon(): void {
    if (this.#orders.length >= mostUnsent) return this.#send();
    if (this.#willSend) return;
    this.#willSend = true;
    setImmediate(() => {
      this.#willSend = false;
      this.#send();
    });
  }

  #send(): void {
    const orders = this.#orders.filter((order) =>
      typeof order === "number" ? this.#worker !== null : this.#pending.get(order[0]) !== undefined,
    );
    this.#orders = [];
    if (orders.length === 0) return;
    try {
      this.#worker ??= this.#startWorker();
      const message: OrdersMessage = [this.#apartMs(), orders];
      this.#worker.postMessage(JSON.stringify(message), []);
    } catch (error) {
      this.#failAll(this.#fault("no request thread can be started", error));
    }
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#entry, { name: "repute requests", resourceLimits });
    const broke = (cause: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#failAll(this.#fault("the request thread broke down", cause));
    };
    worker.on("message", (message: ArrivalsMessage) => this.#arrived(message));
    worker.on("error", broke);
    worker.on("exit", () => broke(new Error("it ended")));
    worker.postMessage(this.#start, []);
    return worker;
  }

  #arrived({ text, bodies }: ArrivalsMessage): void {
    const { answers, faults } = JSON.parse(text) as Arrivals;
    for (const [id, ...fault] of faults) this.#settle(id)?.failed(new TransportError(...fault));
    let end = 0;
    for (const [id, length, { status, headers }] of answers) {
      const body = Buffer.from(bodies.buffer, end, length);
      end += length;
      this.#settle(id)?.answered({ status, headers, body });
    }
  }

  #settle(id: number): Receiver | undefined {
    const [leave, receiver] = this.#pending.take(id) ?? [];
    leave?.();
    return receiver;
  }

  #failAll(error: TransportError): void {
    for (const id of this.#pending.keys()) this.#settle(id)?.failed(error);
  }

  #fault(what: string, cause: unknown = null): TransportError {
    return new TransportError("connection_reset", `${this.#origin}: ${what}`, { cause });
  }
}
