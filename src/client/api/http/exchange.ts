import type { Dispatcher } from "undici";
import type { CredentialMask } from "../../../core/redaction/credential-mask.js";
import type { Abortable, AbortGroups, Leave } from "../../../core/abort.js";
import { decodeBody } from "./decode-body.js";
import type { ShiftedAnswers } from "./shifted-answers.js";
import { type Peer, TransportError, transportErrorOf } from "./transport-error.js";
import type { Answer, Receiver, ResponseHeaders } from "../types.js";

export interface ExchangeBounds extends Peer {
  readonly timeoutMs: number;
  /** Detects answers that belong to other requests. */
  readonly shifted: ShiftedAnswers;
  /** Hides the credential sent; null if there is none. */
  readonly mask: CredentialMask | null;
}

/**
 * One request and its answer: an undici handler that collects the body, bounded in size and time. The
 * timeout also ends a body that trickles in forever, which undici's own timeouts (silence between two
 * pieces) don't catch.
 */
export class Exchange implements Dispatcher.DispatchHandler, Abortable {
  readonly #bounds: ExchangeBounds;
  readonly #path: string;
  readonly #receiver: Receiver;
  readonly #leave: Leave;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #stopReason: Error | null = null;
  #status: number | null = null;
  #headers: ResponseHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Size of the whole body in bytes; NaN if unknown. */
  #length = Number.NaN;
  #looks = 0;

  /**
   * @param path path below the base address
   * @param signal aborting it ends the exchange, as a member of `aborts`
   */
  constructor(
    bounds: ExchangeBounds,
    path: string,
    receiver: Receiver,
    signal: AbortSignal,
    aborts: AbortGroups,
  ) {
    this.#bounds = bounds;
    this.#path = path;
    this.#receiver = receiver;
    this.#leave = aborts.join(signal, this);
    this.#timer = setTimeout(() => this.#expire(), Math.min(bounds.timeoutMs, longestTimerMs));
  }

  abort(reason: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#chunks = [];
    this.#receiver.failed(reason);
    this.#stopReason = reason instanceof Error ? reason : new Error("stopped");
    this.#controller?.abort(this.#stopReason);
  }

  #expire(): void {
    const { origin, timeoutMs } = this.#bounds;
    const message = `${origin} did not answer in full within ${timeoutMs / 1000} s`;
    this.abort(new TransportError("timeout", message, { httpStatus: this.#status }));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It has ended while waiting for a connection.
    if (this.#stopReason) controller.abort(this.#stopReason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    // Skip interim answers (RFC 9110 section 15.2).
    if (status < 200) return;
    this.#status = status;
    const { mask } = this.#bounds;
    const type = headers["content-type"];
    // No other header is shown.
    const hides = mask !== null && type !== undefined;
    this.#headers = hides ? { ...headers, "content-type": mask.inText(String(type)) } : headers;
    this.#length = Number(headers["content-length"]);
    if (this.#length > maxBodyBytes) this.#refuseLargeBody();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBodyBytes) return this.#refuseLargeBody();
    this.#chunks.push(chunk);
    if (this.#mayBeWhole(chunk)) this.#closeIfShifted(controller);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#status === null) return;
    this.#settle();
    let answer: Answer;
    try {
      answer = this.#received(this.#status);
    } catch (error) {
      return this.#receiver.failed(error);
    }
    this.#receiver.answered(this.#masked(answer));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.broke(error);
  }

  /** The request failed, or the answer ended early. */
  broke(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#receiver.failed(transportErrorOf(error, this.#bounds, this.#status));
  }

  /** A body of unknown length is checked at once, and again with its next piece, if it ends like JSON. */
  #mayBeWhole(chunk: Buffer): boolean {
    if (!Number.isNaN(this.#length)) return this.#bytes === this.#length;
    return chunk.at(-1) === closeBrace && this.#looks++ < mostLooks;
  }

  /**
   * Closes the connection after an answer that belongs to another request. Checked before the answer
   * ends, since the connection can be reused immediately afterwards.
   */
  #closeIfShifted(controller: Dispatcher.DispatchController): void {
    if (this.#status === null) return;
    let answer: Answer;
    try {
      answer = this.#received(this.#status);
    } catch {
      return; // Reading the whole answer reports the fault.
    }
    if (!this.#bounds.shifted.has(this.#path, answer)) return;
    this.#settle();
    this.#stopReason = new Error("the answer belongs to another request");
    controller.abort(this.#stopReason);
    this.#receiver.answered(this.#masked(answer));
  }

  /** @throws TransportError if the body cannot be decoded */
  #received(status: number): Answer {
    const { origin } = this.#bounds;
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)];
    const answer = { status, headers: this.#headers, body: this.#chunks[0]! };
    if (this.#headers["content-encoding"] === undefined) return answer;
    return { ...answer, body: decodeBody(answer, maxBodyBytes, origin) };
  }

  /** Hides the credential before anyone else sees the answer. */
  #masked(answer: Answer): Answer {
    const { mask } = this.#bounds;
    if (mask === null) return answer;
    const { status, body } = answer;
    const isData = status === 200 || (status === 503 && body.includes('"partial_success"'));
    return { ...answer, body: isData ? mask.inData(body) : mask.inErrorBody(body) };
  }

  #refuseLargeBody(): void {
    const { origin } = this.#bounds;
    const message = `the answer of ${origin} is larger than ${maxBodyBytes} bytes`;
    this.abort(new TransportError("body_too_large", message, { httpStatus: this.#status }));
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#leave();
  }
}

/** Maximum body size in bytes, before and after decoding. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Maximum of `setTimeout` in milliseconds: 25 days. */
const longestTimerMs = 2 ** 31 - 1;

const closeBrace = 0x7d;

/** Bounds how often a body is checked whose every piece ends like JSON. */
const mostLooks = 8;
