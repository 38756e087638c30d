import type { Worker } from "node:worker_threads";
import { AbortGroups } from "../http/abort-groups.js";
import { parseBase } from "../base-address.js";
import { TransportError } from "../http/transport-error.js";
import type { Answer, Receiver, Requests } from "../types.js";
import { AnswerReader } from "./answer-pack.js";
import type { Arrivals, Orders, ThreadStart } from "./messages.js";
import { onThisThread, type OwnRequests } from "./on-this-thread.js";
import { Pending } from "./pending.js";
import { takeThread } from "./start-thread.js";

/** So many answers are taken in one turn of the event loop. */
const atATime = 16;

/** Why a log of arrivals cannot be written. */
export type LogFault = NonNullable<Arrivals["logFault"]>;

export interface ThreadListeners {
  /** Told when the log of arrivals cannot be written. What is not sent yet is handed back from then on. */
  readonly onLogFault: (fault: LogFault) => void;
  /** Told when requests are made without a thread from now on. */
  readonly onBroken: () => void;
}

const noArrivals = { unsent: [], epoch: 0 } as const;

/** The caller's side of a thread: seats for what is open, orders to it, answers from it. */
export class ThreadRequests implements Requests {
  readonly #origin: string;
  readonly #start: ThreadStart;
  readonly #entry: URL;
  readonly #onLogFault: (fault: LogFault) => void;
  readonly #onBroken: () => void;
  #worker: Worker | null = null;
  readonly #aborts = new AbortGroups();
  /** By seat; null where the request was broken off and the thread has not yet told its end. */
  readonly #pending: (Pending | null)[] = [];
  readonly #free: number[] = [];
  #orders = noOrders();
  #handBack = false;
  #sendsNothing = false;
  /** Of the latest arrivals whose answers were all taken. */
  #epoch = 0;
  #willSend = false;
  /** What arrived and was not taken yet, in order. */
  readonly #unread: { readonly reader: AnswerReader; readonly arrivals: Arrivals }[] = [];
  #state: "open" | "broken" | "destroyed" = "open";
  /** Takes the thread's place when it broke down. */
  #ersatz: Promise<OwnRequests> | null = null;

  constructor(start: ThreadStart, entry: URL, { onLogFault, onBroken }: ThreadListeners) {
    this.#origin = parseBase(start.baseUrl).origin;
    this.#start = start;
    this.#entry = entry;
    this.#onLogFault = onLogFault;
    this.#onBroken = onBroken;
  }

  get(path: string, signal: AbortSignal, receiver: Receiver): null {
    if (signal.aborted) receiver.failed(signal.reason);
    else if (this.#state === "open") this.#order(path, signal, receiver);
    else if (this.#state === "broken") this.#askOtherwise(path, signal, receiver);
    else receiver.failed(this.#fault("connection_reset", "the connections are closed", null));
    return null;
  }

  /** What waits for a connection is handed back to who can take it; what is open goes on. */
  handBack(): void {
    if (this.#worker === null) return;
    this.#handBack = true;
    this.#sendSoon();
  }

  async destroy(): Promise<void> {
    if (this.#state === "destroyed") return;
    this.#state = "destroyed";
    this.#failAll(this.#fault("connection_reset", "the connections are closed", null));
    await this.#worker?.terminate();
    // Who asked was told when there was none.
    await (await this.#ersatz?.catch(() => null))?.destroy();
  }

  #order(path: string, signal: AbortSignal, receiver: Receiver): void {
    const seat = this.#free.pop() ?? this.#pending.length;
    const cancel = (): void => this.#cancel(seat);
    const asked = { path, signal, receiver };
    this.#pending[seat] = new Pending(asked, this.#aborts.of(signal), cancel);
    this.#orders.seats.push(seat);
    this.#orders.paths.push(path);
    this.#sendSoon();
  }

  #cancel(seat: number): void {
    this.#pending[seat] = null;
    this.#orders.cancelled.push(seat);
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#willSend) return;
    this.#willSend = true;
    // Behind what this turn still asks for.
    process.nextTick(this.#send);
  }

  readonly #send = (): void => {
    this.#willSend = false;
    const { seats, paths, cancelled } = this.#orders;
    this.#orders = noOrders();
    const orders: Orders = {
      seats,
      paths: paths.join("\n"),
      cancelled,
      handBack: this.#handBack,
      epoch: this.#epoch,
    };
    this.#handBack = false;
    if (this.#state !== "open") return;
    try {
      const worker = this.#worker ?? this.#startWorker();
      worker.postMessage(orders, []);
    } catch {
      // No thread is to be had. Nothing was sent.
      this.#state = "broken";
      this.#onBroken();
      for (const seat of seats) this.#moveAway(seat);
    }
  };

  #moveAway(seat: number): void {
    const pending = this.#pending[seat] ?? null;
    this.#pending[seat] = null;
    if (pending !== null) this.#askOtherwise(pending.path, pending.signal, pending.settle());
  }

  #startWorker(): Worker {
    const worker = (this.#worker = takeThread(this.#entry));
    worker.on("message", (arrivals: Arrivals) => this.#arrived(arrivals));
    worker.on("error", (error) => this.#broke(error));
    worker.on("exit", () => this.#broke(new Error("it ended")));
    worker.postMessage(this.#start, []);
    return worker;
  }

  #arrived(arrivals: Arrivals): void {
    for (const { seat, error } of arrivals.faults) {
      const receiver = this.#leave(seat);
      receiver?.failed(
        error === null
          ? this.#fault("connection_reset", "the request was broken off", null)
          : new TransportError(error.code, error.message, error),
      );
    }
    if (arrivals.logFault !== null) {
      this.#sendsNothing = true;
      this.#onLogFault(arrivals.logFault);
    }
    if (arrivals.count + arrivals.unsent.length === 0) return;
    this.#unread.push({ reader: new AnswerReader(arrivals), arrivals });
    if (this.#unread.length === 1) setImmediate(this.#read);
  }

  /** Back to who asked, or to the thread once more. */
  #unsent(seat: number): void {
    const pending = this.#pending[seat] ?? null;
    const receiver = this.#leave(seat);
    if (pending === null || receiver === null) return;
    if (receiver.unsent) receiver.unsent();
    else if (this.#sendsNothing) {
      receiver.failed(this.#fault("connection_reset", "its log cannot be written", null));
    } else this.get(pending.path, pending.signal, receiver);
  }

  /**
   * Takes some answers, so that what is asked next is on its way while the others are taken: else the
   * threads would wait for each other in turn.
   */
  readonly #read = (): void => {
    for (let taken = 0; taken < atATime; taken++) {
      while (this.#unread[0]?.reader.next(this.#answered) === false) this.#readAll();
      if (this.#unread.length === 0) return;
    }
    setImmediate(this.#read);
  };

  /** The first of what arrived is read: why something was not sent is known now. */
  #readAll(): void {
    const { unsent, epoch } = this.#unread.shift()?.arrivals ?? noArrivals;
    this.#epoch = Math.max(this.#epoch, epoch);
    for (const seat of unsent) this.#unsent(seat);
  }

  readonly #answered = (seat: number, answer: Answer): void => {
    this.#leave(seat)?.answered(answer);
  };

  /** Who waits at a seat, which is free from now on; null where nobody does any more. */
  #leave(seat: number): Receiver | null {
    const pending = this.#pending[seat] ?? null;
    this.#pending[seat] = null;
    this.#free.push(seat);
    return pending?.settle() ?? null;
  }

  #broke(error: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "broken";
    this.#onBroken();
    this.#failAll(this.#fault("connection_reset", "the thread that asks broke down", error));
  }

  #failAll(error: TransportError): void {
    for (const pending of this.#pending.splice(0)) pending?.settle().failed(error);
  }

  #fault(code: "connection_reset", what: string, cause: unknown): TransportError {
    return new TransportError(code, `${this.#origin}: ${what}`, { cause });
  }

  #askOtherwise(path: string, signal: AbortSignal, receiver: Receiver): void {
    this.#ersatz ??= onThisThread(this.#start);
    this.#ersatz.then(
      ({ requests }) => requests.get(path, signal, receiver),
      (error: unknown) => receiver.failed(error),
    );
  }
}

function noOrders(): { seats: number[]; paths: string[]; cancelled: number[] } {
  return { seats: [], paths: [], cancelled: [] };
}
