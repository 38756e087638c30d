import { Worker } from "node:worker_threads";
import { parseBase } from "../options.js";
import { Transport } from "../http/transport.js";
import { AbortGroups, type Leave } from "../../core/abort.js";
import { TransportError } from "../http/transport-error.js";
import type { Receiver, Requests } from "../types.js";
import type { Arrivals, ArrivalsMessage, Orders, ThreadStart } from "./messages.js";

/** Its garbage is short-lived bodies; with more room it is no faster and takes 28 MB more. */
const resourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Requests made without a thread, and the end of their connections. */
interface OwnRequests {
  readonly requests: Requests;
  readonly destroy: () => Promise<void>;
}

/** A request whose end the thread has not told. */
interface Pending {
  readonly asked: Parameters<Requests["get"]>;
  readonly leave: Leave;
}

/** The caller's side of a thread: orders to it, answers from it. */
export class ThreadRequests implements Requests {
  readonly #origin: string;
  readonly #start: ThreadStart;
  readonly #entry: URL;
  readonly #aborts = new AbortGroups();
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #orders: Orders = { requests: [], cancelled: [] };
  #willSend = false;
  #worker: Worker | null = null;
  #state: "open" | "broken" | "destroyed" = "open";
  /** Takes the thread's place when it broke down. */
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
    // A fallback that could not be opened has failed its requests already.
    await (await this.#fallback?.catch(() => null))?.destroy();
  }

  #order(...asked: Pending["asked"]): void {
    const [path, signal] = asked;
    const id = ++this.#lastId;
    const abort = (reason: unknown): void => {
      this.#settle(id)?.failed(reason);
      this.#orders.cancelled.push(id);
      this.#sendSoon();
    };
    this.#pending.set(id, { asked, leave: this.#aborts.join(signal, { abort }) });
    this.#orders.requests.push({ id, path });
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#willSend) return;
    this.#willSend = true;
    // Together with what else this turn asks for.
    process.nextTick(this.#send);
  }

  readonly #send = (): void => {
    this.#willSend = false;
    const orders = this.#orders;
    this.#orders = { requests: [], cancelled: [] };
    if (this.#state !== "open") return;
    try {
      const worker = this.#worker ?? this.#startWorker();
      worker.postMessage(JSON.stringify(orders), []);
    } catch {
      // No thread can be started. Nothing was sent yet.
      this.#state = "broken";
      for (const asked of this.#takePending()) this.#sendHere(...asked);
    }
  };

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
    for (const { id, status, headers, length } of answers) {
      const body = Buffer.from(bodies.buffer, end, length);
      end += length;
      this.#settle(id)?.answered({ status, headers, body });
    }
  }

  /** Who waits for a request; null when nobody does any more. */
  #settle(id: number): Receiver | null {
    const pending = this.#pending.get(id);
    if (pending === undefined) return null;
    this.#pending.delete(id);
    pending.leave();
    return pending.asked[2];
  }

  #broke(cause: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "broken";
    this.#failAll(this.#fault("the thread that asks broke down", cause));
  }

  #failAll(error: TransportError): void {
    for (const [, , receiver] of this.#takePending()) receiver.failed(error);
  }

  #takePending(): readonly Pending["asked"][] {
    const taken = [...this.#pending.values()];
    this.#pending.clear();
    for (const { leave } of taken) leave();
    return taken.map(({ asked }) => asked);
  }

  #fault(what: string, cause: unknown = null): TransportError {
    return new TransportError("connection_reset", `${this.#origin}: ${what}`, { cause });
  }

  #sendHere(...asked: Pending["asked"]): void {
    const [, , receiver] = asked;
    this.#fallback ??= requestsHere(this.#start);
    this.#fallback.then(
      ({ requests }) => requests.get(...asked),
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
