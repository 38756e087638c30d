import type { Dispatcher } from "undici";
import type { Abortable, AbortGroup } from "./abort-groups.js";
import type { Deadlines, DeadlineSeat, Expiring } from "./deadlines.js";
import { decodeBody } from "./decode-body.js";
import { TransportError, transportErrorOf } from "./transport-error.js";
import type { Answer, Receiver, ResponseHeaders } from "./types.js";

/** What every exchange with a service keeps to. */
export interface ExchangeBounds {
  readonly origin: string;
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** Ends those that take longer than `timeoutMs`. */
  readonly deadlines: Deadlines;
}

/**
 * One request and its answer: undici's handler that collects the body, bounded in size and in time.
 * A body that drips on for ever ends with the time allowed, which undici's own timeouts (silence
 * between two pieces) do not see.
 */
export class Exchange implements Dispatcher.DispatchHandler, Abortable, Expiring {
  readonly #bounds: ExchangeBounds;
  readonly #receiver: Receiver;
  readonly #group: AbortGroup;
  readonly #seat: number;
  readonly #deadline: DeadlineSeat;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #stopReason: Error | null = null;
  #status: number | null = null;
  #headers: ResponseHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(bounds: ExchangeBounds, receiver: Receiver, group: AbortGroup) {
    this.#bounds = bounds;
    this.#receiver = receiver;
    this.#group = group;
    this.#seat = group.join(this);
    this.#deadline = bounds.deadlines.join(this);
  }

  abort(reason: unknown): void {
    this.#stop(reason);
  }

  /** Its time is over. */
  expire(): void {
    const { origin, timeoutMs } = this.#bounds;
    this.#stop(
      new TransportError(
        "timeout",
        `${origin} did not answer in full within ${timeoutMs / 1000} s`,
        { httpStatus: this.#status },
      ),
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It ended while it waited for a connection.
    if (this.#stopReason) controller.abort(this.#stopReason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    // Interim answers (RFC 9110 section 15.2) come before the one that counts.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (Number(headers["content-length"]) > this.#bounds.maxBodyBytes) this.#onTooLarge();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#bounds.maxBodyBytes) this.#onTooLarge();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#status === null) return;
    this.#settle();
    const [first] = this.#chunks;
    const body =
      first !== undefined && this.#chunks.length === 1
        ? first
        : Buffer.concat(this.#chunks, this.#bytes);
    this.#answered({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.broke(error);
  }

  /** The request could not be made, or its answer not read to its end. */
  broke(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#receiver.failed(transportErrorOf(error, this.#bounds.origin, this.#status));
  }

  #answered(answer: Answer): void {
    if (answer.headers["content-encoding"] === undefined) {
      this.#receiver.answered(answer);
      return;
    }
    let body: Buffer;
    try {
      body = decodeBody(answer, this.#bounds.maxBodyBytes, this.#bounds.origin);
    } catch (error) {
      this.#receiver.failed(error);
      return;
    }
    this.#receiver.answered({ ...answer, body });
  }

  #onTooLarge(): void {
    const { origin, maxBodyBytes } = this.#bounds;
    this.#stop(
      new TransportError(
        "body_too_large",
        `the answer of ${origin} is larger than ${maxBodyBytes} bytes`,
        { httpStatus: this.#status },
      ),
    );
  }

  #stop(reason: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#chunks = [];
    this.#receiver.failed(reason);
    this.#stopReason = reason instanceof Error ? reason : new Error("stopped");
    this.#controller?.abort(this.#stopReason);
  }

  #settle(): void {
    this.#settled = true;
    this.#bounds.deadlines.leave(this.#deadline);
    this.#group.leave(this.#seat);
  }
}
