import type { Abortable } from "../http/abort-groups.js";
import { systemClock } from "../../core/clock.js";
import { rateLimitHintMs, tellsLimit } from "../http/rate-limit-hint.js";
import { readJson } from "../../core/read-json.js";
import { TransportError } from "../http/transport-error.js";
import type { Answer, Receiver, Requests } from "../types.js";
import { packAnswers, type SeatedAnswer } from "./answer-pack.js";
import { type ArrivalLog, frameHeadBytes } from "./arrival-log.js";
import type { AnswerPack, Arrivals, Orders, ThreadFault } from "./messages.js";

export interface ThreadServiceOptions {
  readonly requests: Requests;
  /** Most requests open at once; others wait. */
  readonly connections: number;
  /** Keeps answers from a kill before the next requests are sent. */
  readonly log?: Pick<ArrivalLog, "write"> | null;
  readonly post: (arrivals: Arrivals) => void;
}

/**
 * The thread's side: makes the requests that it is told to, as many at a time as there are
 * connections, and tells what came of them together, once in each turn of the event loop.
 *
 * A connection is free again when what it brought is in the log: so a kill never loses more answers
 * than connections are open. When the service throttles, what waits is handed back unsent, and so is
 * what comes from a side that does not know of it yet: how long to wait is known there.
 */
export class ThreadService {
  readonly #requests: Requests;
  readonly #post: (arrivals: Arrivals) => void;
  #log: Pick<ArrivalLog, "write"> | null;
  /** What is open, by seat. */
  readonly #open: (Ask | null)[] = [];
  readonly #waiting: Ask[] = [];
  /** How many more may be open. */
  #room: number;
  #answers: SeatedAnswer[] = [];
  #faults: ThreadFault[] = [];
  #willTell = false;
  /** What is handed back, by seat. */
  #unsent: number[] = [];
  /** How often the service throttled. */
  #epoch = 0;
  #logFault: Arrivals["logFault"] = null;

  constructor({ requests, connections, log = null, post }: ThreadServiceOptions) {
    this.#requests = requests;
    this.#room = connections;
    this.#log = log;
    this.#post = post;
  }

  take({ seats, paths, cancelled, handBack, epoch }: Orders): void {
    if (seats.length > 0) {
      for (const [index, path] of paths.split("\n").entries()) {
        this.#waiting.push(new Ask(seats[index] ?? 0, path, this));
      }
    }
    for (const seat of cancelled) this.#cancel(seat);
    if (handBack || epoch < this.#epoch || this.#logFault !== null) this.#handBack();
    else this.#askNext();
  }

  answered(ask: Ask, answer: Answer): void {
    this.#open[ask.seat] = null;
    if (isThrottling(answer)) {
      this.#epoch++;
      this.#handBack();
    }
    this.#answers.push({ seat: ask.seat, path: ask.path, answer });
    this.#tellSoon();
  }

  failed(ask: Ask, reason: unknown): void {
    this.#open[ask.seat] = null;
    const error = reason instanceof TransportError ? plain(reason) : null;
    this.#faults.push({ seat: ask.seat, error });
    this.#tellSoon();
  }

  #askNext(): void {
    const most = Math.min(this.#room, this.#waiting.length);
    for (const ask of this.#waiting.splice(0, most)) {
      this.#room--;
      this.#open[ask.seat] = ask;
      ask.begin(this.#requests);
    }
  }

  #cancel(seat: number): void {
    const open = this.#open[seat];
    if (open) return open.abort();
    const index = this.#waiting.findIndex((ask) => ask.seat === seat);
    const [unsent] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (unsent === undefined) return;
    // It never had a connection, and gives one back below.
    this.#room--;
    this.failed(unsent, null);
  }

  /** What waits is not sent. */
  #handBack(): void {
    if (this.#waiting.length === 0) return;
    for (const { seat } of this.#waiting.splice(0)) this.#unsent.push(seat);
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#willTell) return;
    this.#willTell = true;
    setImmediate(this.#tell);
  }

  readonly #tell = (): void => {
    this.#willTell = false;
    const [answers, faults] = [this.#answers, this.#faults];
    this.#answers = [];
    this.#faults = [];
    const pack = this.#packed(answers);
    if (this.#logFault !== null) this.#handBack();
    const unsent = this.#unsent;
    this.#unsent = [];
    this.#post({ ...pack, faults, unsent, epoch: this.#epoch, logFault: this.#logFault });
    this.#room += answers.length + faults.length;
    this.#askNext();
  };

  /** The answers in one buffer, which is in the log if there is one. */
  #packed(answers: readonly SeatedAnswer[]): AnswerPack {
    if (this.#log === null || answers.length === 0) return packAnswers(answers);
    const paths = answers.map(({ path }) => path).join("\n");
    const pack = packAnswers(answers, { headBytes: frameHeadBytes, paths });
    try {
      this.#log.write(Buffer.from(pack.answers), answers.length, paths.length);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#log = null;
      this.#logFault = { code, message };
    }
    return pack;
  }
}

/** Never aborts: each request is broken off by itself. */
const { signal } = new AbortController();

/** One request that the thread was told to make. */
class Ask implements Receiver {
  readonly seat: number;
  readonly path: string;
  readonly #service: ThreadService;
  #startedAt = 0;
  #request: Abortable | null = null;

  constructor(seat: number, path: string, service: ThreadService) {
    this.seat = seat;
    this.path = path;
    this.#service = service;
  }

  begin(requests: Requests): void {
    this.#startedAt = performance.now();
    this.#request = requests.get(this.path, signal, this);
  }

  abort(): void {
    this.#request?.abort(null);
  }

  answered({ status, headers, body }: Answer): void {
    const tookMs = performance.now() - this.#startedAt;
    this.#service.answered(this, { status, headers, body, tookMs });
  }

  failed(reason: unknown): void {
    this.#service.failed(this, reason);
  }
}

/** Whether an answer says that others had better wait, or need not be sent at all. */
function isThrottling({ status, headers, body }: Answer): boolean {
  if (status === 429 || status === 401 || status === 403) return true;
  // With its envelope a 503 is an answer (interface: Envelope).
  if (status === 503 && !isPartial(body)) return true;
  return tellsLimit(headers) && rateLimitHintMs(headers, systemClock) !== null;
}

function isPartial(body: Buffer): boolean {
  const { value } = readJson(body);
  return typeof value === "object" && value !== null && "status" in value
    ? value.status === "partial_success"
    : false;
}

/** Its members: an error that crosses to another thread is left with its message alone. */
function plain({ code, message, httpStatus, cause }: TransportError): ThreadFault["error"] {
  return { code, message, httpStatus, cause: cause instanceof Error ? cause.message : null };
}
