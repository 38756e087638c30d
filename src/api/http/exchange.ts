import type { Dispatcher } from "undici";
import type { CredentialMask } from "../../core/redaction/credential-mask.js";
import type { Abortable, AbortGroups, Leave } from "../../core/abort.js";
import { decodeBody } from "./decode-body.js";
import type { ShiftedAnswers } from "./shifted-answers.js";
import { type Peer, TransportError, transportErrorOf } from "./transport-error.js";
import type { Answer, Receiver, ResponseHeaders } from "../types.js";

/** Limits and context common to all exchanges with a service. */
export interface ExchangeBounds extends Peer {
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** Detects answers that belong to other requests. */
  readonly shifted: ShiftedAnswers;
  /** Whether an answer counts even if its body is too long or breaks off. */
  readonly beginningOnly: boolean;
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
    this.#stop(reason);
  }

  #expire(): void {
    if (this.#endEarly()) return;
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
    this.#headers = mask === null ? headers : maskedHeaders(headers, mask);
    this.#length = Number(headers["content-length"]);
    if (this.#length > this.#bounds.maxBodyBytes && !this.#bounds.beginningOnly) this.#onTooLarge();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bounds.beginningOnly) this.#chunks.push(chunk);
    if (this.#bytes > this.#bounds.maxBodyBytes) return this.#onTooLarge();
    if (this.#bounds.beginningOnly) return;
    this.#chunks.push(chunk);
    if (this.#mayBeWhole(chunk)) this.#closeIfShifted(controller);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#status === null) return;
    this.#settle();
    this.#tell(this.#received(this.#status));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.broke(error);
  }

  /** The request failed, or the answer ended early. */
  broke(error: unknown): void {
    if (this.#settled || this.#endEarly()) return;
    this.#settle();
    this.#receiver.failed(transportErrorOf(error, this.#bounds, this.#status));
  }

  /** Accepts the part of the body received so far, if that is enough. */
  #endEarly(): boolean {
    if (!this.#bounds.beginningOnly || this.#status === null || this.#settled) return false;
    this.#settle();
    this.#stopReason = new Error("enough of the body was received");
    this.#controller?.abort(this.#stopReason);
    this.#tell({ ...this.#received(this.#status), truncated: true });
    return true;
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
    const { shifted, maxBodyBytes, origin } = this.#bounds;
    if (this.#status === null) return;
    const received = this.#received(this.#status);
    let decoded = received;
    try {
      decoded = decodedAnswer(received, maxBodyBytes, origin);
    } catch {
      return; // Reading the whole answer reports the fault.
    }
    if (!shifted.has(this.#path, decoded)) return;
    this.#settle();
    this.#stopReason = new Error("the answer belongs to another request");
    controller.abort(this.#stopReason);
    this.#receiver.answered(this.#masked(decoded));
  }

  #received(status: number): Answer {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)];
    return { status, headers: this.#headers, body: this.#chunks[0]! };
  }

  #tell(received: Answer): void {
    let answer: Answer;
    try {
      answer = decodedAnswer(received, this.#bounds.maxBodyBytes, this.#bounds.origin);
    } catch (error) {
      this.#receiver.failed(error);
      return;
    }
    this.#receiver.answered(this.#masked(answer));
  }

  /** Hides the credential before anyone else sees the answer. */
  #masked(answer: Answer): Answer {
    const { mask } = this.#bounds;
    if (mask === null) return answer;
    const { status, body } = answer;
    const isData =
      !this.#bounds.beginningOnly &&
      (status === 200 || (status === 503 && body.includes('"partial_success"')));
    return { ...answer, body: isData ? mask.inData(body) : mask.inErrorBody(body) };
  }

  #onTooLarge(): void {
    if (this.#endEarly()) return;
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
    clearTimeout(this.#timer);
    this.#leave();
  }
}

/** Maximum of `setTimeout` in milliseconds: 25 days. */
const longestTimerMs = 2 ** 31 - 1;

const closeBrace = 0x7d;

/** Bounds how often a body is checked whose every piece ends like JSON. */
const mostLooks = 8;

function decodedAnswer(answer: Answer, maxBytes: number, origin: string): Answer {
  if (answer.headers["content-encoding"] === undefined) return answer;
  return { ...answer, body: decodeBody(answer, maxBytes, origin) };
}

/** If the body cannot be decoded, only the two headers that are shown need masking. */
function maskedHeaders(headers: ResponseHeaders, mask: CredentialMask): ResponseHeaders {
  const masked = { ...headers };
  for (const name of ["content-type", "content-encoding"]) {
    const value = headers[name];
    if (value !== undefined) masked[name] = mask.inText(String(value));
  }
  return masked;
}
