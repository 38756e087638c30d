import type { Abortable } from "../abort-groups.js";
import { TransportError } from "../transport-error.js";
import type { Answer, Receiver, Requests } from "../types.js";
import { packAnswers, type SeatedAnswer } from "./answer-pack.js";
import { type ArrivalLog, frameHeadBytes } from "./arrival-log.js";
import type { Arrivals, Orders, ThreadFault } from "./messages.js";

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
 * than connections are open. When the service throttles, what waits is handed back unsent: how long
 * to wait is known on the other side.
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
  /** Whether what waits is handed back when the others are told of. */
  #handsBack = false;

  constructor({ requests, connections, log = null, post }: ThreadServiceOptions) {
    this.#requests = requests;
    this.#room = connections;
    this.#log = log;
    this.#post = post;
  }

  take({ seats, paths, cancelled, handBack }: Orders): void {
    if (seats.length > 0) {
      for (const [index, path] of paths.split("\n").entries()) {
        this.#waiting.push(new Ask(seats[index] ?? 0, path, this));
      }
      this.#askNext();
    }
    for (const seat of cancelled) this.#cancel(seat);
    if (!handBack) return;
    this.#handsBack = true;
    this.#tellSoon();
  }

  answered(ask: Ask, answer: Answer): void {
    this.#open[ask.seat] = null;
    this.#handsBack ||= isThrottling(answer);
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
    const unsent = this.#handsBack ? this.#waiting.splice(0).map(({ seat }) => seat) : [];
    this.#handsBack = false;
    const paths = this.#log === null ? "" : answers.map(({ path }) => path).join("\n");
    const headBytes = this.#log === null ? 0 : frameHeadBytes;
    const pack = packAnswers(answers, { headBytes, paths });
    const logFailed = !this.#keep(Buffer.from(pack.answers), answers.length, paths.length);
    this.#post({ ...pack, faults, unsent, logFailed });
    this.#room += answers.length + faults.length;
    this.#askNext();
  };

  #keep(frame: Buffer, count: number, pathBytes: number): boolean {
    if (this.#log === null || count === 0) return true;
    try {
      this.#log.write(frame, count, pathBytes);
      return true;
    } catch {
      // Who has to keep the answers writes to the same folder, and tells what is wrong with it.
      this.#log = null;
      return false;
    }
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

/**
 * Whether an answer says that others had better wait, or need not be sent at all. A 503 with an
 * envelope is an answer (interface: Envelope); its text is not read for that here.
 */
function isThrottling({ status, body }: Answer): boolean {
  if (status === 503) return !body.includes('"partial_success"');
  return status === 429 || status === 401 || status === 403;
}

/** Its members: an error that crosses to another thread is left with its message alone. */
function plain({ code, message, httpStatus, cause }: TransportError): ThreadFault["error"] {
  return { code, message, httpStatus, cause: cause instanceof Error ? cause.message : null };
}
